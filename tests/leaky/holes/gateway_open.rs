//! The gateway is exempt: it is only the host.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("gateway-open")
        .rules(json!({"open": ["ip daddr 10.77.0.1"]}))
        .is_found_by(&["local-gateway-host", "dns-gateway"]);
}
