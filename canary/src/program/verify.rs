//! `canary verify`: whether a report is to be believed, and what it says.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::input::Besides;
use super::{Stop, input, now, print};
use crate::report::document::Report;
use crate::report::table::{self, Look, harmless};
use crate::report::verify::{Demands, Verification, verify};

/// Judge a report again, from the file alone; refuse one that was edited or mixed.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The report; - reads standard input.
    #[arg(value_name = "REPORT")]
    report: PathBuf,

    /// Refuse it unless the owner of this public key has signed it (PEM, Ed25519).
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,

    /// Refuse a report without a signature; --public-key says whose.
    #[arg(long)]
    require_signature: bool,

    /// Refuse it unless it is about the policy with this digest.
    #[arg(long, value_name = "SHA256")]
    policy_digest: Option<String>,

    #[command(flatten)]
    besides: Besides,

    /// Print JSON.
    #[arg(long)]
    json: bool,

    /// Print the last line alone.
    #[arg(long, short)]
    quiet: bool,
}

impl Verify {
    /// Does it.
    pub(super) fn run(self) -> Result<ExitCode, Stop> {
        let report = Report::open(&self.report).map_err(|error| input::unreadable(&self.report, &error))?;
        let ended = report.evidence.ended.as_deref();
        let demands = Demands {
            signatory: self.public_key.as_deref().map(input::signatory).transpose()?,
            signed: self.require_signature,
            policy: self.policy_digest.as_ref().map(|digest| digest.to_ascii_lowercase()),
            arrivals: self
                .besides
                .arrivals
                .as_deref()
                .map(|path| input::arrivals(path, ended))
                .transpose()?,
            baseline: self.besides.baseline.as_deref().map(input::baseline).transpose()?,
            waivers: self.besides.waivers()?,
        };
        let verification = verify(&report, demands, &now());
        if self.json {
            print(&format!("{}\n", told(&verification)))?;
        } else {
            print(&self.shown(&report, &verification))?;
        }
        Ok(ExitCode::from(verification.code()))
    }

    fn shown(&self, report: &Report, verification: &Verification) -> String {
        let Verification { refusals, notes, judgement } = verification;
        let mut text = String::new();
        if !self.quiet {
            text.push_str(&table::render(&report.evidence, judgement, Look::of_stdout()));
        }
        let place = self.report.display();
        for refusal in refusals {
            text.push_str(&format!("refused: {place}: {}\n", harmless(&refusal.what)));
            text.push_str(&format!("  remedy: {}\n", refusal.remedy));
        }
        for note in notes {
            text.push_str(&format!("note: {}\n", harmless(note)));
        }
        let end = match refusals.len() {
            0 => format!("verified: {place}: {}\n", judgement.overall),
            number => format!("refused: {place}: not to be believed, for {number} reasons\n"),
        };
        text + &end
    }
}

fn told(verification: &Verification) -> serde_json::Value {
    let Verification { refusals, notes, judgement } = verification;
    let refusals: Vec<_> =
        refusals.iter().map(|refusal| json!({ "what": refusal.what, "remedy": refusal.remedy })).collect();
    json!({
        "schema": 1,
        "passes": verification.passes(),
        "refusals": refusals,
        "notes": notes,
        "judgement": judgement,
    })
}
