use std::io;
use std::process::ExitCode;

use crate::engine::worker::work;

/// Reads an order from standard input and answers on standard output.
pub(super) fn run() -> ExitCode {
    match work(io::BufReader::new(io::stdin()), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("closedbook-canary: the worker can't go on: {error}");
            ExitCode::from(70)
        }
    }
}
