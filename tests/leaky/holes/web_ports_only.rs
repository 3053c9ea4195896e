//! Only ports 80 and 443 are sent to the proxy; the rest goes where it likes.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("web-ports-only")
        .rules(json!({"open": ["tcp dport != { 53, 80, 443 }"]}))
        .is_found_by(&["proto-nonstandard-port", "proto-server-first"]);
}
