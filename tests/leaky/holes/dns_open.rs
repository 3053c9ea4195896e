//! Questions to any resolver pass: "it is only DNS".

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("dns-open").rules(json!({"open": ["udp dport 53", "tcp dport 53"]})).is_found_by(&[
        "dns-direct-udp",
        "dns-direct-tcp",
        "dns-embedded-recursion",
    ]);
}
