//! A switch of phase ends no connection.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("old-connections")
        .proxy(json!({"keeps": true}))
        .is_found_by(&["life-phase-switch-established", "life-phase-switch-pooled"]);
}
