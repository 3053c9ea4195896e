//! Which of the known calls and modules can stand in a source at all: the others need not be looked for.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::calls::CALLS;
use super::modules::MODULES;

/// The words of all names that stand in a source: what is not there need not be looked for.
pub(super) fn present(source: &str) -> HashSet<&'static str> {
    static ANCHORS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let calls = CALLS.iter().map(|call| call.name);
        calls.chain(MODULES.iter().map(|(module, _)| *module)).map(anchor).collect()
    });
    let words = source.as_bytes().split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    words
        .filter(|word| word.len() < 32 && !word.is_empty())
        .filter_map(|word| str::from_utf8(word).ok().and_then(|word| ANCHORS.get(word).copied()))
        .collect()
}

/// The longest word of a name.
pub(super) fn anchor(name: &'static str) -> &'static str {
    name.split(|c: char| !is_word(c)).max_by_key(|word| word.len()).unwrap_or(name)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
