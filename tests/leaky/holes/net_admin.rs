//! The container's root has CAP_NET_ADMIN, and can take the rules away.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("net-admin")
        .with("capabilities", json!(["net_admin"]))
        .which_may_be_found_by(&["priv-so-mark", "l4-transparent-freebind", "dns-upstream-spoof-mark"])
        .by_root_too()
        .is_found_by(&["priv-netadmin"]);
}
