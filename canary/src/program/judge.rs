use std::io::Read as _;
use std::process::ExitCode;

use crate::report::evidence::Evidence;
use crate::report::judgement::judge;

/// Judges the evidence on standard input, and prints a line for each probe.
pub(super) fn run() -> ExitCode {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    let evidence: Evidence = match read
        .map_err(|error| error.to_string())
        .and_then(|_| serde_json::from_str(&text).map_err(|error| error.to_string()))
    {
        Ok(evidence) => evidence,
        Err(error) => {
            eprintln!("closedbook-canary: the evidence can't be read: {error}");
            return ExitCode::from(2);
        }
    };
    let judgement = judge(&evidence);
    for probe in &judgement.probes {
        println!(
            "{:7} {:5} {:14} {:34} {}",
            probe.phase, probe.level, probe.verdict, probe.id, probe.because
        );
    }
    for reason in &judgement.reasons {
        println!("! {reason}");
    }
    println!("{}", judgement.overall.word());
    ExitCode::from(judgement.overall.code())
}
