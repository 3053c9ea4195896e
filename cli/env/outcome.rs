//! What is left of a canary: printed, and in the job folder.

use std::path::Path;
use std::process::ExitCode;

use closedbook_canary::report::Evidence;
use closedbook_canary::report::judgement::judge;

use super::host::Finding;
use super::job::Wanted;
use crate::exit::Failure;
use crate::output::print;

/// Tells it.
pub(super) fn tell(
    _wanted: &Wanted,
    evidence: Evidence,
    _jobs: &Path,
    _json: Option<&Vec<Finding>>,
) -> Result<ExitCode, Failure> {
    let judgement = judge(&evidence);
    for probe in &judgement.probes {
        print(&format!(
            "{:7} {:5} {:14} {:34} {}\n",
            probe.phase,
            probe.level.word(),
            probe.verdict.word(),
            probe.id,
            probe.because
        ))?;
    }
    for reason in &judgement.reasons {
        print(&format!("! {reason}\n"))?;
    }
    print(&format!("{}\n", judgement.overall.word()))?;
    Ok(ExitCode::from(judgement.overall.code()))
}
