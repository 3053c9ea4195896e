//! Of two Host fields the first is checked and the last obeyed.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("last-host-wins").proxy(json!({"hosts": "last"})).is_found_by(&["http-duplicate-host"]);
}
