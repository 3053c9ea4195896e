//! A name ends at its first zero octet for the list, and not for the server.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("name-to-the-first-nul")
        .proxy(json!({"match": "c-string", "fall_back": true}))
        .is_found_by(&["tls-sni-malformed"]);
}
