//! The name decides whether, and the client's own address where to.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("original-destination")
        .proxy(json!({"dial": "original"}))
        .is_found_by(&["tls-sni-spoof-foreign-ip", "http-host-spoof-foreign-ip"]);
}
