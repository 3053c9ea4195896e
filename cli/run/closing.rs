//! The last lines of a run: what was refused, and how to permit it.

use closedbook_policy::Entry;

use crate::sidecar::config::{Report, Row};

/// How many hosts are named; the log has them all.
const NAMED: usize = 5;

/// Prints them on stderr, if there is anything to say.
pub(super) fn print(report: &Report) {
    if let Some(line) = refusals(report) {
        eprintln!("closedbook: {line}");
    }
    if report.packets_unrecorded > 0 {
        eprintln!(
            "closedbook: {} more packets were refused, too many at once to record each",
            report.packets_unrecorded
        );
    }
    if let Some(error) = &report.log_error {
        eprintln!("closedbook: the decision log is not complete: {error}");
    }
    if report.unrecorded > 0 {
        eprintln!(
            "closedbook: {} attempts are not in the decision log, which could not be written",
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
    let rows = merged(&report.refused);
    let mut named: Vec<String> = rows.iter().take(NAMED).map(describe).collect();
    match rows.len().saturating_sub(NAMED) {
        0 => {}
        more => named.push(format!("{more} more hosts")),
    }
    let attempts = if total == 1 { "attempt" } else { "attempts" };
    let mut line = format!("{total} {attempts} refused: {}", named.join(", "));
    let mut flags: Vec<String> = Vec::new();
    for flag in rows.iter().filter_map(entry).map(|entry| format!("--allow {entry}")) {
        if flags.len() < NAMED && !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    if !flags.is_empty() {
        line.push_str(&format!("; add with {}", flags.join(" ")));
    }
    Some(line)
}

/// The rows without the ports that go without saying, those that then read the same counted together.
fn merged(rows: &[Row]) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for row in rows {
        let telling = |port: &u16| {
            ![80, 443].contains(port) || ["port-not-allowed", "packet"].contains(&row.reason.as_str())
        };
        let port = row.port.filter(telling);
        let same =
            |other: &&mut Row| (&other.host, other.port, &other.reason) == (&row.host, port, &row.reason);
        match all.iter_mut().find(same) {
            Some(other) => other.times += row.times,
            None => all.push(Row { port, ..row.clone() }),
        }
    }
    all.sort_by_key(|row| std::cmp::Reverse(row.times));
    all
}

fn describe(row: &Row) -> String {
    let times = if row.times == 1 { String::new() } else { format!(", {} times", row.times) };
    let port = row.port.map_or_else(String::new, |port| format!(":{port}"));
    format!("{}{port} ({}{times})", row.host, row.reason)
}

/// The entry that would permit it, for the refusals that an entry can change.
fn entry(row: &Row) -> Option<String> {
    let scheme = match (row.reason.as_str(), row.port) {
        ("name-not-allowed" | "dns-name" | "address-not-allowed", _) | ("port-not-allowed", Some(_)) => "",
        ("http-upgrade", _) => "ws://",
        _ => return None,
    };
    let host = match (row.host.contains(':'), row.port) {
        (true, Some(_)) => format!("[{}]", row.host),
        _ => row.host.clone(),
    };
    let port = row.port.map_or_else(String::new, |port| format!(":{port}"));
    // Not everything that a client can ask for can be permitted: names that are none, addresses of the inside.
    Entry::parse(&format!("{scheme}{host}{port}")).ok().map(|entry| entry.to_string())
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

    /// What is advised can be followed.
    #[test]
    fn advises_entries_alone() {
        for (host, port, reason, advice) in [
            ("2001:db8::7", Some(8443), "address-not-allowed", Some("[2001:db8::7]:8443")),
            ("2001:db8::7", None, "address-not-allowed", Some("2001:db8::7")),
            ("example.com", Some(8080), "http-upgrade", Some("ws://example.com:8080")),
            ("example.com", None, "http-upgrade", Some("ws://example.com")),
            ("127.0.0.1", Some(8080), "address-not-allowed", None),
            ("_http._tcp.example.com", None, "dns-name", None),
            ("example.com", None, "host-mismatch", None),
        ] {
            assert_eq!(entry(&row(host, port, reason, 1)).as_deref(), advice, "{host} {port:?} {reason}");
        }
    }

    /// One host is one entry, on whichever web port and by whichever protocol it was tried.
    #[test]
    fn says_nothing_twice() {
        let refused = vec![
            row("example.org", None, "dns-name", 3),
            row("example.com", None, "dns-name", 2),
            row("example.com", Some(443), "name-not-allowed", 2),
            row("example.com", Some(80), "name-not-allowed", 2),
            row("example.com", Some(443), "port-not-allowed", 1),
        ];
        let report = Report { refused, ..Report::default() };
        assert_eq!(
            refusals(&report).as_deref(),
            Some(
                "10 attempts refused: example.com (name-not-allowed, 4 times), example.org (dns-name, 3 times), \
                 example.com (dns-name, 2 times), example.com:443 (port-not-allowed); \
                 add with --allow example.com --allow example.org --allow example.com:443"
            )
        );
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
