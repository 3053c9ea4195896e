//! The mark that exempts the proxy is a constant of its source code, and the task's root may set marks.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("fixed-mark")
        .rules(json!({"mark": 114514}))
        .with_raw_sockets()
        .is_found_by(&["priv-so-mark", "dns-upstream-spoof-mark"]);
}
