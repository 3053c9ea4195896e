//! The proxy can be asked, and told, on a port of loopback.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("control-port")
        .proxy(json!({"control": 8181}))
        .which_may_be_found_by(&["local-proxy-loop"])
        .is_found_by(&["local-proxy-admin"]);
}
