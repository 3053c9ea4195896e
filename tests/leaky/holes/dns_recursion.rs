//! Names that are not permitted are asked for at the real resolver.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("dns-recursion")
        .proxy(json!({"recursion": {"types": [1, 16, 28], "all": true}}))
        .is_found_by(&["dns-embedded-recursion"]);
}
