//! A name is permitted if it contains one that is.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("name-contains")
        .proxy(json!({"match": "substring"}))
        .which_may_be_found_by(&["http-host-variants"])
        .is_found_by(&["tls-sni-suffix-confusion"]);
}
