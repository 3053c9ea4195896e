//! A name is permitted if it starts with one that is.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("name-starts-with")
        .proxy(json!({"match": "prefix"}))
        .which_may_be_found_by(&["http-host-variants"])
        .is_found_by(&["tls-sni-suffix-confusion"]);
}
