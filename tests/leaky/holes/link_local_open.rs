//! Link-local IPv6 is exempt, since neighbour discovery needs it.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("link-local-open")
        .rules(json!({"open": ["ip6 daddr fe80::/10"]}))
        .is_found_by(&["ip6-linklocal"]);
}
