//! Names that are not permitted are asked for at the real resolver.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("dns-recursion")
        .proxy(json!({"recursion": {"types": [1, 16, 28], "all": true}}))
        .which_may_be_found_by(&["dns-", "ip6-dns-nameserver", "local-metadata-dns"])
        .is_found_by(&["dns-embedded-recursion", "dns-direct-udp", "dns-direct-tcp"]);
}
