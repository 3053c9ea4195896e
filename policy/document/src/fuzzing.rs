//! What must hold for every text, however hostile (G16). Called by the fuzz target; panics where it does not hold.

use crate::{Format, Node, Place, Value};

/// In every syntax, a text is read or refused; whatever stands in it stands inside the text, and so does a fault.
pub fn documents(bytes: &[u8]) {
    for format in [Format::Toml, Format::Json, Format::Jsonc, Format::Yaml] {
        match format.read_bytes(bytes) {
            Ok(root) => inside(&root, bytes.len()),
            Err(fault) => {
                assert!(!fault.to_string().is_empty());
                let place = Place::of(bytes, fault.at);
                assert!(place.line >= 1 && place.column >= 1 && place.column <= bytes.len() + 1);
            }
        }
    }
}

fn inside(node: &Node, length: usize) {
    assert!(node.at <= length);
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| inside(item, length)),
        Value::Table(fields) => fields.iter().for_each(|(key, node)| {
            assert!(key.at <= length);
            inside(node, length);
        }),
        _ => {}
    }
}
