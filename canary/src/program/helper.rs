use std::io;
use std::process::ExitCode;

/// Takes steps from standard input and answers on standard output.
pub(super) fn run() -> ExitCode {
    match crate::helper::serve(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("closedbook-canary: the helper can't go on: {error}");
            ExitCode::from(70)
        }
    }
}
