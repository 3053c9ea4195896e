//! What is neither TLS nor HTTP goes to its original destination.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("unknown-protocol")
        .proxy(json!({"unknown": "raw"}))
        .which_may_be_found_by(&["proto-", "http-connect-on-80", "tls-odd-record-version"])
        .is_found_by(&["proto-raw-bytes", "proto-git-ssh", "http-unknown-method", "tls-sslv2-hello"]);
}
