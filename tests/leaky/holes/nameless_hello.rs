//! A hello without a name goes to its original destination.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("nameless-hello").proxy(json!({"nameless": "raw"})).is_found_by(&["tls-ip-literal-no-sni"]);
}
