//! The permitted name is good for any port.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("port-8443").proxy(json!({"ports": "any"})).is_found_by(&["tls-nonstandard-port"]);
}
