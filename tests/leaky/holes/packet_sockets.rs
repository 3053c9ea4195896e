//! Frames of packet sockets pass by every rule of the output hook, and nothing guards the wire.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("packet-sockets")
        .rules(json!({"wire": ["meta length > 0"]}))
        .with_raw_sockets()
        .is_found_by(&["l4-af-packet"]);
}
