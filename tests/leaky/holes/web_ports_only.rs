//! Only ports 80 and 443 are sent to the proxy; the rest goes where it likes.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("web-ports-only")
        .rules(json!({"open": ["tcp dport != { 53, 80, 443 }"]}))
        .which_may_be_found_by(&[
            "proto-",
            "ip6-",
            "dns-embedded-direct",
            "l4-mptcp",
            "l4-tfo",
            "local-gateway-host",
            "tls-hello-silent",
        ])
        .is_found_by(&["proto-nonstandard-port", "proto-server-first", "tls-nonstandard-port", "dns-dot"]);
}
