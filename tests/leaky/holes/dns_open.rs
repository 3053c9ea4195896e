//! Questions to any resolver pass: "it is only DNS".

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("dns-open")
        .rules(json!({"open": ["udp dport 53", "tcp dport 53"]}))
        .which_may_be_found_by(&["dns-gateway", "ip6-dns-nameserver", "local-metadata-dns"])
        .is_found_by(&[
            "dns-direct-udp",
            "dns-direct-tcp",
            "dns-embedded-recursion",
            "dns-upstream-netns-wide",
            "dns-qtypes",
            "dns-edns-options",
            "dns-long-label-rate",
        ]);
}
