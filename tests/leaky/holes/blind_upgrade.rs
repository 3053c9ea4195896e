//! Whoever asks for an upgrade gets a tunnel, before the server has said a word.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("blind-upgrade")
        .proxy(json!({"upgrade": true}))
        .which_may_be_found_by(&["http-optimistic-bytes"])
        .is_found_by(&["http-h2c-upgrade", "http-upgrade-blind-tunnel"]);
}
