//! `closedbook env check`: is this machine fit, is the image, and is the book closed?
//!
//! The flags, the JSON and the closing lines are those of TrialDesignBench's `tdb env check`, whose place it can take.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::exit::Failure;
use crate::flags::agent::{Auth, TableFlag};
use crate::output::{is_colourful, print, print_json};
use crate::scratch::Scratch;

mod host;
mod image;
mod job;
mod offline;
mod online;
mod outcome;
mod trial;

use host::Finding;

#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(Box<Check>),
}

/// Check this machine, and with --image the image, and with --canary that nothing gets out.
///
/// The canary tries every practical way out from inside, in the setup phase and, after the switch, in the agent phase, and
/// writes what it saw, as JSON and as a page to read, into a job folder below --jobs-dir. With --lab all of it happens
/// offline, on this machine alone, with a witness that sees what arrives.
///
/// Exit codes: 0 all is well; 1 something is not; 2 usage; 3 it can't be told; 4 the machine lacks something, which is named.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The image of the tasks, to be checked by its own script.
    #[arg(long, visible_alias = "tag", value_name = "IMAGE")]
    image: Option<String>,

    /// Run the canary.
    #[arg(long)]
    canary: bool,

    /// The agent whose policy is tried.
    #[arg(long = "agent", id = "agent_name", value_name = "NAME", default_value = "claude-code")]
    agent: String,

    /// Whose models it calls [default: the agent's first].
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// How it logs in.
    #[arg(long, value_enum, default_value = "api")]
    auth: Auth,

    #[command(flatten)]
    table: TableFlag,

    /// Offline: in a fake internet on this machine, from which nothing leaves.
    #[arg(long, requires = "canary")]
    lab: bool,

    /// A fault of the lab, to see that the canary does not pass then: HOST=FAULT.
    #[arg(long, value_name = "HOST=FAULT", requires = "lab")]
    fault: Vec<String>,

    /// Where the canary's job folder is made.
    #[arg(long, value_name = "FOLDER", default_value = "jobs")]
    jobs_dir: PathBuf,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the verb. As `tdb`, the image is checked even if none is named, as the original does.
pub(crate) fn run(args: EnvArgs, as_tdb: bool) -> Result<ExitCode, Failure> {
    let Verb::Check(check) = args.verb;
    check.run(as_tdb)
}

impl Check {
    fn run(self, as_tdb: bool) -> Result<ExitCode, Failure> {
        // What can be wrong about the arguments is found before anything is started.
        let wanted = self.canary.then(|| job::Wanted::of(&self)).transpose()?;
        let folder = wanted.as_ref().map(|wanted| outcome::folder(wanted, &self.jobs_dir)).transpose()?;
        let findings = host::look(&self.jobs_dir, self.canary);
        if !self.json {
            print(&shown(&findings))?;
        }
        let unfit = findings.iter().find(|finding| finding.state == host::State::Unfit);
        if let Some(unfit) = unfit {
            if self.json {
                print_json(&serde_json::json!({ "host": findings }))?;
            }
            return Err(Failure::host(format!("{}: {}", unfit.what, unfit.said))
                .remedy(unfit.remedy.clone().unwrap_or_else(|| "use another machine".to_owned())));
        }
        let image = match (&self.image, as_tdb && !self.lab) {
            (Some(image), _) => Some(image.clone()),
            (None, true) => Some(image::DEFAULT.to_owned()),
            (None, false) => None,
        };
        let digest = image.as_deref().map(|image| image::check(image, self.json, as_tdb)).transpose()?;
        let (Some(wanted), Some(folder)) = (wanted.map(|wanted| wanted.with_image(digest)), folder) else {
            if self.json {
                print_json(&serde_json::json!({ "host": findings, "image": image }))?;
            }
            return Ok(ExitCode::SUCCESS);
        };
        let scratch = Scratch::new()?;
        let evidence =
            if self.lab { offline::run(&wanted, &scratch)? } else { online::run(&wanted, &scratch)? };
        let json = self.json.then_some(findings.as_slice());
        let code = outcome::tell(&wanted, evidence, &trial::log(&scratch), &folder, json)?;
        // The original knows one way to fail.
        Ok(ExitCode::from(if as_tdb { code.min(1) } else { code }))
    }
}

/// A line for each finding, and its remedy below it.
fn shown(findings: &[Finding]) -> String {
    let colour = is_colourful();
    findings.iter().map(|finding| finding.line(colour)).collect()
}
