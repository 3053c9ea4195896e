//! A switch of phase takes effect two seconds after it was said to be done, and ends no connection.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("slow-switch")
        .proxy(json!({"slow_switch": 2}))
        .through_its_life()
        .which_may_be_found_by(&["life-phase-switch-http", "allow-nothing-else"])
        .is_found_by(&[
            "life-policy-reload-window",
            "life-phase-switch-established",
            "life-phase-switch-pooled",
            "life-phase-switch-daemon",
        ]);
}
