//! UDP port 443 passes, for HTTP/3. Many probes that need some datagram use that port.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("quic-open")
        .rules(json!({"open": ["udp dport 443"]}))
        .which_may_be_found_by(&[
            "ip6-",
            "l4-bindtodevice",
            "life-slowloris",
            "life-startup-race",
            "priv-ld-preload",
            "priv-proxy-uid",
        ])
        .is_found_by(&["udp-quic", "udp-any"]);
}
