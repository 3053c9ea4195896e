//! The name decides whether, and the client's own address where to.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("original-destination")
        .proxy(json!({"dial": "original"}))
        .which_may_be_found_by(&[
            "http-host-variants",
            "http-smuggle-misc",
            "http-smuggle-te-te",
            "tls-ech-real",
            "tls-resumption-0rtt",
        ])
        .is_found_by(&[
            "tls-sni-spoof-foreign-ip",
            "http-host-spoof-foreign-ip",
            "dns-hosts-file-poison",
            "tls-sni-case-dot",
        ]);
}
