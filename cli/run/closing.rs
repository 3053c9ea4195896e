//! The last lines of a run: what was refused, and how to permit it.

use crate::sidecar::config::{Report, Row};

/// How many hosts are named; the log has them all.
const NAMED: usize = 5;

/// Prints them on stderr, if there is anything to say.
pub(super) fn print(report: &Report) {
    if let Some(line) = refusals(report) {
        eprintln!("closedbook: {line}");
    }
    if let Some(error) = &report.log_error {
        eprintln!("closedbook: the decision log is not complete: {error}");
    }
    if report.unrecorded > 0 {
        eprintln!(
            "closedbook: {} attempts were refused because the log could not be written",
            report.unrecorded
        );
    }
}

/// `3 connections refused: example.com (2), 192.0.2.1:22 port-not-allowed; add with --allow example.com`
fn refusals(report: &Report) -> Option<String> {
    let total = report.refused.iter().map(|row| row.times).sum::<u64>() + report.refused_more;
    if total == 0 {
        return None;
    }
    let mut named: Vec<String> = report.refused.iter().take(NAMED).map(describe).collect();
    match report.refused.len().saturating_sub(NAMED) {
        0 => {}
        more => named.push(format!("{more} more hosts")),
    }
    let attempts = if total == 1 { "attempt" } else { "attempts" };
    let mut line = format!("{total} {attempts} refused: {}", named.join(", "));
    let flags: Vec<String> =
        report.refused.iter().filter_map(entry).take(NAMED).map(|e| format!("--allow {e}")).collect();
    if !flags.is_empty() {
        line.push_str(&format!("; add with {}", flags.join(" ")));
    }
    Some(line)
}

fn describe(row: &Row) -> String {
    let times = if row.times == 1 { String::new() } else { format!(", {} times", row.times) };
    let port =
        row.port.filter(|port| ![80, 443].contains(port)).map_or_else(String::new, |port| format!(":{port}"));
    format!("{}{port} ({}{times})", row.host, row.reason)
}

/// The entry that would permit it, for the refusals that an entry can change.
fn entry(row: &Row) -> Option<String> {
    match (row.reason.as_str(), row.port) {
        ("name-not-allowed" | "dns-name" | "address-not-allowed", None | Some(80 | 443)) => {
            Some(row.host.clone())
        }
        ("name-not-allowed" | "address-not-allowed" | "port-not-allowed", Some(port)) => {
            Some(format!("{}:{port}", row.host))
        }
        ("http-upgrade", _) => Some(format!("ws://{}", row.host)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(host: &str, port: Option<u16>, reason: &str, times: u64) -> Row {
        Row { host: host.into(), port, reason: reason.into(), times }
    }

    #[test]
    fn nothing_refused_says_nothing() {
        assert_eq!(refusals(&Report::default()), None);
    }

    #[test]
    fn names_what_was_refused_and_what_would_permit_it() {
        let refused = vec![
            row("example.com", Some(443), "name-not-allowed", 2),
            row("api.example.org", Some(8443), "port-not-allowed", 1),
            row("192.0.2.1", Some(443), "no-server-name", 1),
        ];
        let report = Report { refused, ..Report::default() };
        assert_eq!(
            refusals(&report).as_deref(),
            Some(
                "4 attempts refused: example.com (name-not-allowed, 2 times), \
                 api.example.org:8443 (port-not-allowed), 192.0.2.1 (no-server-name); \
                 add with --allow example.com --allow api.example.org:8443"
            )
        );
    }
}
