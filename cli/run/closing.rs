//! The last line of a run: what was refused, and how to permit it.

use closedbook_sidecar::outer::Summary;

/// Prints it on stderr, if anything was refused.
pub(super) fn print(summary: &Summary) {
    if let Some(line) = summary.closing_line() {
        eprintln!("closedbook: {line}");
    }
}
