//! The rules are for IPv4 alone.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("ipv6-forgotten").rules(json!({"open": ["meta nfproto ipv6"]})).is_found_by(&["ip6-global"]);
}
