//! Who says nothing for a while waits for the server's greeting, and gets it.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("hello-timeout")
        .proxy(json!({"late": "raw"}))
        .is_found_by(&["tls-hello-silent", "tls-hello-dribble"]);
}
