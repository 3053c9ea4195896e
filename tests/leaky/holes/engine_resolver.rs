//! Port 53 is taken care of, and the engine's own resolver has another besides, on an address that is local.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("engine-resolver").rules(json!({"engine": "open"})).is_found_by(&["dns-embedded-direct"]);
}
