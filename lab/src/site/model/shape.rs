//! Answers of a form that the client prescribes.

use serde_json::{Map, Value, json};

/// How deep an example goes. Schemas can lead back to themselves only by references, which are not followed.
const DEEPEST: usize = 16;

/// Something that this JSON Schema permits, as far as clients go in their schemas.
pub(super) fn example(schema: &Value) -> Value {
    within(schema, DEEPEST)
}

fn within(schema: &Value, depth: usize) -> Value {
    let Some(below) = depth.checked_sub(1) else { return Value::Null };
    if let Some(one) = ["const", "default"].iter().find_map(|key| schema.get(key)) {
        return one.clone();
    }
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return first.clone();
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(key).and_then(Value::as_array).and_then(|all| all.first()) {
            return within(first, below);
        }
    }
    match kind(schema).as_deref() {
        Some("object") => {
            let fields = schema.get("properties").and_then(Value::as_object);
            let fields = fields.into_iter().flatten();
            Value::Object(
                fields.map(|(name, inner)| (name.clone(), within(inner, below))).collect::<Map<_, _>>(),
            )
        }
        Some("array") => json!([]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        _ => json!("lab"),
    }
}

/// In small letters: Gemini's own schemas have them in capitals.
fn kind(schema: &Value) -> Option<String> {
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(Value::String(kind)) => Some(kind.as_str()),
        _ => schema.get("properties").map(|_| "object"),
    };
    kind.map(str::to_ascii_lowercase)
}
