//! UDP port 443 passes, for HTTP/3.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("quic-open").rules(json!({"open": ["udp dport 443"]})).is_found_by(&["udp-quic", "udp-any"]);
}
