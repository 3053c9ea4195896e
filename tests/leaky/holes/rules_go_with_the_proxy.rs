//! The rules are taken away when the proxy ends: a dead proxy must not cut the task off.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("rules-go-with-the-proxy")
        .rules(json!({"on_death": "flush"}))
        .through_its_life()
        .is_found_by(&["life-sidecar-crash"]);
}
