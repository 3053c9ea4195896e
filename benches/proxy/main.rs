//! What the proxy costs: the same work done directly and through `closedbook run`, in turns, in one run.
//!
//! `cargo bench --bench proxy [-- --rounds N --json FILE]`. Method and reading: `benches/README.md`.

use std::process::ExitCode;

mod arguments;
mod client;
mod figures;
mod host;
mod job;
mod player;
mod process;
mod protocol;
mod refusals;
mod report;
mod server;
mod stage;
mod starts;
mod targets;

use arguments::{Arguments, Role};

/// Everything here ends the benchmark; nobody tells the kinds apart.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let done = Arguments::parse(std::env::args().skip(1)).and_then(|arguments| match arguments.role {
        Role::Host => host::run(&arguments),
        Role::Server => server::run(),
        Role::Client => client::run(),
        Role::Nothing => Ok(()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
