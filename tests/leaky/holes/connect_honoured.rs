//! CONNECT makes a tunnel to wherever it says.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("connect-honoured")
        .proxy(json!({"connect": true}))
        .which_may_be_found_by(&["http-optimistic-bytes"])
        .is_found_by(&["http-connect-on-80", "http-connect-relayed", "http-connect-authority-vs-host"]);
}
