//! What a switch of phase costs while thousands of connections are busy, and whether it keeps its word (G7).
//!
//! `cargo bench --bench switch [-- --flows N --rounds N --pause MS]`. Method and reading: `benches/README.md`.

use std::process::ExitCode;

mod client;
mod control;
mod host;
mod server;
mod wire;

/// Everything here ends the benchmark; nobody tells the kinds apart.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Connections, of which every second one becomes forbidden.
const FLOWS: usize = 5000;
/// Switches.
const ROUNDS: usize = 50;

fn main() -> ExitCode {
    match play(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The program starts itself anew in other places. `--bench` comes from cargo; `cargo test --benches` has none.
fn play(mut words: impl Iterator<Item = String>) -> Result<()> {
    let (mut asked, mut flows, mut rounds, mut pause) = (false, FLOWS, ROUNDS, 0);
    while let Some(word) = words.next() {
        let mut number = || -> Result<usize> { Ok(words.next().ok_or("a number is missing")?.parse()?) };
        match word.as_str() {
            "--bench" => asked = true,
            "--flows" => flows = number()?.max(2) / 2 * 2,
            "--rounds" => rounds = number()?.max(1),
            "--pause" => pause = number()?,
            "server" => return server::run(),
            "client" => return client::run(number()?, number()?),
            other => {
                return Err(
                    format!("unknown argument {other:?}; try --flows N, --rounds N, --pause MS").into()
                );
            }
        }
    }
    if asked { host::run(flows, rounds, pause) } else { Ok(()) }
}
