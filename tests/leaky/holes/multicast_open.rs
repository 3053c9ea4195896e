//! Multicast is exempt: it does not leave the link.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("multicast-open")
        .rules(json!({"open": ["ip daddr 224.0.0.0/4", "ip6 daddr ff00::/8"]}))
        .which_may_be_found_by(&["ip6-linklocal"])
        .is_found_by(&["dns-mdns-llmnr-nbns", "l4-broadcast-multicast"]);
}
