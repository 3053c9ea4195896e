//! `${NAME}` in a compose file: what it comes to is known only where it is started.

use super::open;
use crate::container::facts::At;
use crate::container::read::mounts::has_variable;
use crate::container::view::{Reader, View};

/// The text with the defaults of its variables, and a remark that it may be another. A text without defaults stays, and
/// whoever reads it does not understand it.
pub(super) fn settle(reader: &mut Reader<'_>, text: At<String>) -> At<String> {
    if !has_variable(&text.value) {
        return text;
    }
    let Some(value) = with_defaults(&text.value) else { return text };
    reader
        .remarks
        .push(open(&text.spot, format!("{} depends on a variable: {}", text.spot.field, text.value)));
    At::new(value, text.spot)
}

/// The same for each text of a list.
pub(super) fn settled(reader: &mut Reader<'_>, view: &View<'_>, key: &str) -> Vec<At<String>> {
    let texts = reader.texts(view, key);
    texts.into_iter().map(|text| settle(reader, text)).collect()
}

/// `None` if one of them has no default.
fn with_defaults(text: &str) -> Option<String> {
    let mut rest = text;
    let mut value = String::new();
    while let Some((before, after)) = rest.split_once('$') {
        value.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            value.push('$');
            rest = after;
            continue;
        }
        let (inner, after) = after.strip_prefix('{')?.split_once('}')?;
        let (_, default) = inner.split_once('-')?;
        if default.contains('$') {
            return None;
        }
        value.push_str(default);
        rest = after;
    }
    value.push_str(rest);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults() {
        assert_eq!(with_defaults("a${X:-b}c${Y-}").as_deref(), Some("abc"));
        assert_eq!(with_defaults("$$5").as_deref(), Some("$5"));
        for open in ["${X}", "$X", "${X:?no}", "${X:-${Y}}", "${"] {
            assert_eq!(with_defaults(open), None, "{open}");
        }
    }
}
