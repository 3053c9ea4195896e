//! `closedbook canary`: the canary's own command line, in this program too.

use std::process::ExitCode;

use closedbook_canary::program::{self, CanaryArgs};

use crate::exit::Failure;

/// Runs it.
pub(crate) fn run(args: CanaryArgs) -> Result<ExitCode, Failure> {
    Ok(program::run(args, &["canary"]))
}
