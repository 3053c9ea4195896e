//! What is neither TLS nor HTTP goes to its original destination.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("unknown-protocol").proxy(json!({"unknown": "raw"})).is_found_by(&["proto-raw-bytes"]);
}
