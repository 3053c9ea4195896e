//! A hello of more than 16 KiB is no hello, so it is passed on as something else.

use serde_json::json;

use crate::hole::Hole;

#[test]
fn is_found() {
    Hole::named("large-hello").proxy(json!({"large": "raw"})).is_found_by(&["tls-hello-8k-16k-64k"]);
}
