//! A hello without a name goes to its original destination.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("nameless-hello")
        .proxy(json!({"nameless": "raw"}))
        .which_may_be_found_by(&[
            "ip6-global",
            "tls-alpn-odd",
            "tls-ech-real",
            "tls-hello-8k-16k-64k",
            "tls-resumption-0rtt",
            "tls-shared-ip",
        ])
        .is_found_by(&["tls-ip-literal-no-sni"]);
}
