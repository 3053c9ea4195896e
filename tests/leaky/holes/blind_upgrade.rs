//! Whoever asks for an upgrade gets a tunnel, before the server has said a word.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("blind-upgrade")
        .proxy(json!({"upgrade": true}))
        .is_found_by(&["http-h2c-upgrade", "http-upgrade-blind-tunnel"]);
}
