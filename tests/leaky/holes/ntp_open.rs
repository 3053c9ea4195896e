//! UDP port 123 passes, so that clocks are right.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("ntp-open").rules(json!({"open": ["udp dport 123"]})).is_found_by(&["udp-ntp", "udp-any"]);
}
