//! Setup is public; then rules come that accept whatever is established.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("established")
        .rules(json!({"public_setup": true, "open": ["ct state established"]}))
        .is_found_by(&["life-phase-switch-established"]);
}
