//! The whole benchmark, and its end.

use std::process;
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::arguments::Arguments;
use crate::figures::Figures;
use crate::{report, stage, starts};

/// Whatever hangs, it ends.
const LATEST: Duration = Duration::from_secs(85);

/// Measures everything, and prints it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let began = Instant::now();
    thread::spawn(|| {
        thread::sleep(LATEST);
        eprintln!("bench: not done after {} s: something hangs", LATEST.as_secs());
        // All that was started ends with our ends of their pipes.
        process::exit(1);
    });
    let mut figures = Figures::default();
    let rounds = stage::measure(arguments.rounds, &mut figures)?;
    starts::measure(&mut figures)?;
    let rows = figures.rows();
    report::print(&rows, rounds);
    println!("\n{:.0} s in all", began.elapsed().as_secs_f64());
    if let Some(path) = &arguments.json {
        report::write(path, &rows, rounds)?;
    }
    Ok(())
}
