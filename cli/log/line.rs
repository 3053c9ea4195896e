//! One record on one line.

use std::net::SocketAddr;

use serde_json::Value;

use crate::output::harmless;

/// Time, verdict, kind, name, reason, bytes, detail.
pub(super) fn line(record: &Value, colour: bool) -> String {
    let text = |field: &str| record[field].as_str().unwrap_or_default();
    let number = |field: &str| record[field].as_u64().unwrap_or_default();
    // Of the date and the time, the time.
    let time = text("ts").split('T').next_back().unwrap_or_default();
    let verdict = if record["event"] == "flow.open" { "open" } else { text("verdict") };
    let verdict = match (colour, verdict) {
        (false, _) => format!("{verdict:<5}"),
        (true, "allow") => format!("\x1b[32m{verdict:<5}\x1b[0m"),
        (true, "open") => format!("{verdict:<5}"),
        (true, "cut") => format!("\x1b[33m{verdict:<5}\x1b[0m"),
        (true, _) => format!("\x1b[31m{verdict:<5}\x1b[0m"),
    };
    let mut line = format!("{} {verdict} {:<4} {}", harmless(time), harmless(text("kind")), host(record));
    if let Some(reason) = record["reason"].as_str() {
        line.push_str(&format!("  {}", harmless(reason)));
    }
    let (up, down) = (number("bytes_up"), number("bytes_down"));
    if (up, down) != (0, 0) {
        line.push_str(&format!("  {up} up, {down} down"));
    }
    if let Some(detail) = record["detail"].as_str() {
        line.push_str(&format!("  ({})", harmless(detail)));
    }
    line
}

fn host(record: &Value) -> String {
    let port = match record["kind"].as_str() {
        Some("dns") => None,
        _ => record["port"].as_u64(),
    };
    match (record["name"].as_str(), record["original"].as_str(), port) {
        (Some(name), _, Some(port)) => format!("{}:{port}", harmless(name)),
        (Some(name), _, None) => harmless(name).into_owned(),
        // An address without a port, where the protocol has none.
        (None, Some(original), None) if record["kind"] == "packet" => match original.parse::<SocketAddr>() {
            Ok(address) => address.ip().to_string(),
            Err(_) => harmless(original).into_owned(),
        },
        (None, Some(original), _) => harmless(original).into_owned(),
        (None, None, _) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records() {
        let shown = |record| line(&record, false);
        assert_eq!(
            shown(json!({
                "ts": "2026-01-02T03:04:05.678Z", "verdict": "allow", "kind": "tls", "name": "a.example",
                "port": 443, "reason": null, "bytes_up": 7, "bytes_down": 9, "detail": null
            })),
            "03:04:05.678Z allow tls  a.example:443  7 up, 9 down"
        );
        assert_eq!(
            shown(json!({
                "ts": "2026-01-02T03:04:05.678Z", "verdict": "deny", "kind": "dns", "name": "b\u{1b}.example",
                "port": 53, "reason": "dns-name", "detail": "A: no entry"
            })),
            "03:04:05.678Z deny  dns  b\\u{1b}.example  dns-name  (A: no entry)"
        );
        assert_eq!(
            shown(json!({"verdict": "cut", "kind": "tcp", "original": "192.0.2.1:22", "port": 22})),
            " cut   tcp  192.0.2.1:22"
        );
        assert_eq!(
            shown(json!({"verdict": "deny", "kind": "packet", "original": "[2001:db8::1]:0", "port": null})),
            " deny  packet 2001:db8::1"
        );
        assert_eq!(
            shown(
                json!({"event": "flow.open", "ts": "2026-01-02T03:04:05.678Z", "kind": "tls", "name": "a.example", "port": 443})
            ),
            "03:04:05.678Z open  tls  a.example:443"
        );
        assert!(line(&json!({"verdict": "deny"}), true).contains("\u{1b}[31mdeny \u{1b}[0m"));
    }
}
