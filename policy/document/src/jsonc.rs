//! JSON with comments to tree, by jsonc-parser.

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};

use crate::{DEEPEST, Key, Node, Unreadable, Value};

/// What editors allow in their settings, and no more: no bare words as keys, no single quotes, no missing commas.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

pub(crate) fn parse(source: &str) -> Result<Node, Unreadable> {
    let parsed = parse_to_ast(source, &CollectOptions::default(), &options())
        .map_err(|error| Unreadable::wrong(error.range().start, error.kind().to_string()))?;
    match parsed.value {
        Some(value) => node(&value, 0),
        None => Err(Unreadable::wrong(0, "there is no value in it")),
    }
}

fn node(value: &ast::Value<'_>, depth: usize) -> Result<Node, Unreadable> {
    let at = value.range().start;
    let value = match value {
        ast::Value::StringLit(text) => Value::Text(text.value.clone().into_owned()),
        ast::Value::NumberLit(number) => {
            number.value.parse().map_or(Value::Other("a number that is not a small integer"), Value::Integer)
        }
        ast::Value::BooleanLit(boolean) => Value::Boolean(boolean.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(_) | ast::Value::Object(_) if depth > DEEPEST => {
            Value::Other("a deeply nested value")
        }
        ast::Value::Array(array) => {
            Value::List(array.elements.iter().map(|item| node(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        ast::Value::Object(object) => Value::Table(
            object
                .properties
                .iter()
                .map(|field| {
                    let key = Key { at: field.name.range().start, text: field.name.as_str().to_owned() };
                    Ok((key, node(&field.value, depth + 1)?))
                })
                .collect::<Result<_, Unreadable>>()?,
        ),
    };
    Ok(Node { at, value })
}
