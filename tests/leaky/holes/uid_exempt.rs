//! The proxy is exempted by its user, and the task's root can become that user.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("uid-exempt")
        .rules(json!({"open": ["meta skuid 13"]}))
        .proxy(json!({"uid": 13, "mark": null}))
        .by_root_too()
        .is_found_by(&["priv-proxy-uid"]);
}
