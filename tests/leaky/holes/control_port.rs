//! The proxy can be asked, and told, on a port of loopback.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("control-port").proxy(json!({"control": 8181})).is_found_by(&["local-proxy-admin"]);
}
