//! The rules are for IPv4 alone.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("ipv6-forgotten")
        .rules(json!({"open": ["meta nfproto ipv6"]}))
        .which_may_be_found_by(&["dns-mdns-llmnr-nbns", "l4-broadcast-multicast"])
        .is_found_by(&[
            "ip6-global",
            "ip6-dns-nameserver",
            "ip6-linklocal",
            "ip6-late-enable",
            "ip6-nat64-6to4-teredo",
            "ip6-v4mapped",
            "l4-icmpv6",
            "local-metadata-v6",
        ]);
}
