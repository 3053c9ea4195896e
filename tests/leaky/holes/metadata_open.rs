//! The cloud's metadata address is exempt, as on the machine itself.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("metadata-open")
        .rules(json!({"open": ["ip daddr 169.254.169.254"]}))
        .is_found_by(&["local-metadata", "local-metadata-dns"]);
}
