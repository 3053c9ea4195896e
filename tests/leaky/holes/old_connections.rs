//! A switch of phase ends no connection.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("old-connections").proxy(json!({"keeps": true})).through_its_life().is_found_by(&[
        "life-phase-switch-established",
        "life-phase-switch-pooled",
        "life-phase-switch-http",
    ]);
}
