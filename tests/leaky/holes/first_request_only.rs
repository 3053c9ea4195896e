//! The first request of a connection is checked, and then the two are left alone.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("first-request-only")
        .proxy(json!({"first": true}))
        .which_may_be_found_by(&["http-smuggle-misc"])
        .is_found_by(&["http-keepalive-host-switch", "http-pipeline-host-switch"]);
}
