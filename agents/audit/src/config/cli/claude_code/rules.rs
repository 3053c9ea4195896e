//! Which permission rules take a tool away.
//!
//! Measured with 2.1.295: a bare name does, also with `()` or `(*)` behind it, and `*` stands for any text. A rule with
//! something else in its parentheses leaves the tool offered and denies calls. Case, quotes and other separators count.

/// What a rule does to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The tool is not offered.
    Removes,
    /// The tool is offered, some calls are refused.
    Narrows,
    /// It looks like the tool's name and is not.
    Misspelt,
    /// It is about something else.
    Nothing,
}

/// What a rule does to a tool.
pub(super) fn effect(rule: &str, tool: &str) -> Effect {
    let (name, inner) = match rule.split_once('(') {
        Some((name, rest)) if rest.ends_with(')') => (name, rest.get(..rest.len() - 1)),
        _ => (rule, None),
    };
    if matches_star(name, tool) {
        return if inner.is_none_or(|inner| matches!(inner, "" | "*")) {
            Effect::Removes
        } else {
            Effect::Narrows
        };
    }
    if resembles(rule, tool) { Effect::Misspelt } else { Effect::Nothing }
}

/// The names in the values of `--tools` and `--disallowedTools`, which are cut at commas and spaces outside of
/// parentheses.
pub(super) fn names(value: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut from, mut depth) = (0, 0_usize);
    for (at, letter) in value.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ' ' if depth == 0 => {
                names.extend(value.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    names.extend(value.get(from..));
    names.retain(|name| !name.is_empty());
    names
}

/// Whether letters and digits are the same, or hold the tool's: what someone meant who wrote it.
pub(super) fn resembles(text: &str, tool: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    plain(text).contains(&plain(tool))
}

/// Whether a pattern, in which `*` stands for any text, matches a name. Time grows with the product of their lengths.
pub(super) fn matches_star(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
