//! HTTPS is filtered, plain HTTP is not.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("http-unfiltered")
        .rules(json!({"open": ["tcp dport 80"]}))
        .which_may_be_found_by(&[
            "http-",
            "client-",
            "local-",
            "life-slowloris",
            "life-startup-race",
            "priv-",
            "proto-raw-bytes",
            "ip6-global",
            "dns-hosts-file-poison",
        ])
        .is_found_by(&["http-plain-unfiltered", "http-host-spoof-foreign-ip", "http-no-host"]);
}
