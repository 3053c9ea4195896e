//! DNS over TLS passes: port 853 is not port 53.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("dot-open").rules(json!({"open": ["tcp dport 853"]})).is_found_by(&[
        "dns-dot",
        "proto-nonstandard-port",
        "tls-nonstandard-port",
    ]);
}
