//! What is neither TCP nor UDP nor ICMP was not thought of.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("other-protocols")
        .rules(json!({"open": ["meta l4proto != { tcp, udp, icmp, ipv6-icmp }"]}))
        .with_raw_sockets()
        .which_may_be_found_by(&["l4-fragments"])
        .is_found_by(&[
            "l4-gre",
            "l4-ipip",
            "l4-esp",
            "l4-ah",
            "l4-etherip",
            "l4-sctp",
            "l4-dccp",
            "l4-udplite",
        ]);
}
