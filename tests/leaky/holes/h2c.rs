//! HTTP/2 without TLS is passed on as it comes.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("h2c").proxy(json!({"h2c": true})).is_found_by(&["http-h2c-prior-knowledge"]);
}
