//! HTTPS is filtered, plain HTTP is not.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("http-unfiltered")
        .rules(json!({"open": ["tcp dport 80"]}))
        .is_found_by(&["http-plain-unfiltered"]);
}
