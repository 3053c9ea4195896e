//! Host is checked, and the absolute form of the target is obeyed.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("absolute-form")
        .proxy(json!({"absolute": true}))
        .is_found_by(&["http-absolute-form-mismatch"]);
}
