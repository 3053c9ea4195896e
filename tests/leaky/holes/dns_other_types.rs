//! A permitted name is asked for at the real resolver, if the type is not A: the answers are somebody else's.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("dns-other-types")
        .proxy(json!({"recursion": {"types": [16, 28, 64, 65, 255]}}))
        .is_found_by(&["dns-qtypes"]);
}
