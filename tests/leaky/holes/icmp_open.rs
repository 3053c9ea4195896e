//! Pings pass: they are harmless, and an echo carries what one likes.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("icmp-open")
        .rules(json!({"open": ["meta l4proto { icmp, ipv6-icmp }"]}))
        .is_found_by(&["l4-icmp-echo", "l4-icmpv6"]);
}
