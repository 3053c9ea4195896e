//! Content-Length is believed where Transfer-Encoding stands beside it, and both are passed on.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("smuggling")
        .proxy(json!({"framing": "length"}))
        .which_may_be_found_by(&["http-smuggle-misc", "http-smuggle-te-te", "http-smuggle-te-cl"])
        .is_found_by(&["http-smuggle-cl-te"]);
}
