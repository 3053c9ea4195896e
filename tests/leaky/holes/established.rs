//! In the setup phase a host is exempt, by its address; then rules come that accept whatever is established.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("established")
        // The address that the proxy gives for registry.npmjs.org; the lab answers at every one.
        .rules(json!({"setup": ["ip daddr 198.18.0.3"], "open": ["ct state established"]}))
        .through_its_life()
        .is_found_by(&[
            "life-phase-switch-established",
            "life-phase-switch-pooled",
            "life-phase-switch-http",
        ]);
}
