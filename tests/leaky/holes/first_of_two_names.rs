//! Of two server names the first is looked at.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("first-of-two-names").proxy(json!({"names": "first"})).is_found_by(&["tls-sni-multi-name"]);
}
