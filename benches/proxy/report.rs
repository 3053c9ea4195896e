//! The table, and the same as JSON.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::Result;
use crate::figures::{Row, Spread};

/// Everything that goes into the file.
#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    version: &'a str,
    kernel: String,
    processors: usize,
    rounds: usize,
    rows: &'a [Row],
}

/// Writes the figures to a file.
pub(crate) fn write(path: &Path, rows: &[Row], rounds: usize) -> Result<()> {
    let document = Document {
        schema: 1,
        version: env!("CARGO_PKG_VERSION"),
        kernel: kernel(),
        processors: processors(),
        rounds,
        rows,
    };
    Ok(fs::write(path, serde_json::to_string_pretty(&document)? + "\n")?)
}

/// Prints them.
pub(crate) fn print(rows: &[Row], rounds: usize) {
    println!("closedbook {}, Linux {}, {} processors", env!("CARGO_PKG_VERSION"), kernel(), processors());
    println!("median (least-most) of {rounds} rounds, direct and proxied in turns");
    let mut group = "";
    for row in rows {
        if row.group != group {
            group = &row.group;
            println!("\n{group:<44} {:>26} {:>26} {:>8}", "direct", "proxied", "slower");
        }
        let what = format!("{} [{}]", row.what, row.unit.word());
        let direct = row.direct.map_or_else(|| "-".into(), spread);
        let slower = row.slower.map_or_else(String::new, |times| format!("{times:.2} x"));
        println!("  {what:<42} {direct:>26} {:>26} {slower:>8}", spread(row.proxied));
    }
}

fn spread(Spread { median, min, max }: Spread) -> String {
    if min == max { number(median) } else { format!("{} ({}-{})", number(median), number(min), number(max)) }
}

/// Three digits that count.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn kernel() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "?".into(), |text| text.trim().to_owned())
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
