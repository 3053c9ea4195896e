//! From nothing to nothing: what a run costs that does nothing.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Result;
use crate::figures::{Figures, Unit, Way};
use crate::stage::CLOSEDBOOK;

/// Starts of each kind.
const STARTS: usize = 20;

const GROUP: &str = "start and end";

/// `true` by itself, sealed, and sealed in a lab of its own.
pub(crate) fn measure(figures: &mut Figures) -> Result<()> {
    for _ in 0..STARTS {
        let direct = time(&["true"])?;
        for (what, words) in [
            ("run -- true", &[CLOSEDBOOK, "run", "--", "true"][..]),
            ("run --lab -- true", &[CLOSEDBOOK, "run", "--lab", "--", "true"]),
        ] {
            figures.add(Way::Direct, GROUP, what, Unit::Milliseconds, direct);
            figures.add(Way::Proxied, GROUP, what, Unit::Milliseconds, time(words)?);
        }
    }
    Ok(())
}

/// In milliseconds.
fn time(words: &[&str]) -> Result<f64> {
    let [program, arguments @ ..] = words else { return Err("no command".into()) };
    let began = Instant::now();
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status()?;
    let took = began.elapsed();
    if status.success() { Ok(took.as_secs_f64() * 1e3) } else { Err(format!("{words:?}: {status}").into()) }
}
