//! The container's root has CAP_NET_RAW, and the kernel has AF_XDP: its frames pass by every rule there is.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("raw-sockets")
        .by_root_too()
        .with("capabilities", json!(["net_raw"]))
        .is_found_by(&["priv-af-vsock-etc"]);
}
