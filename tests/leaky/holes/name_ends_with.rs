//! A name is permitted if it ends with one that is.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("name-ends-with")
        .proxy(json!({"match": "suffix"}))
        .is_found_by(&["tls-sni-suffix-confusion"]);
}
