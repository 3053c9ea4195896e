//! `.env` files, as python-dotenv reads them: what it can't make out it passes over, line by line.

/// A variable of such a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Offset of the line.
    pub(crate) at: usize,
}

/// The variables, in order. `${NAME}` in a value is left as it stands.
pub(crate) fn read(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let (entry, length) = line(rest);
        entries.extend(entry.map(|(name, value)| Entry { name, value, at }));
        rest = rest.get(length..).unwrap_or_default();
    }
    entries
}

/// One line, or as many as a quoted value spans, and its length.
fn line(text: &str) -> (Option<(String, String)>, usize) {
    let end = text.find('\n').map_or(text.len(), |at| at + 1);
    let first = text.get(..end).unwrap_or_default();
    let Some((name, _)) = first.split_once('=') else { return (None, end) };
    let lead = name.len() + 1;
    let name = name.trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let name = name.trim_matches('\'');
    if name.is_empty() || name.starts_with('#') || name.contains(char::is_whitespace) {
        return (None, end);
    }
    let value = text.get(lead..).unwrap_or_default();
    let skipped = value.len() - value.trim_start_matches([' ', '\t']).len();
    let value = value.get(skipped..).unwrap_or_default();
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let Some((inner, length)) = quoted(value, quote) else { return (None, end) };
            let after = lead + skipped + length;
            let end =
                text.get(after..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| after + at + 1);
            (Some((name.to_owned(), inner)), end)
        }
        _ => {
            let line = value.lines().next().unwrap_or_default();
            let bare = line
                .find(" #")
                .or_else(|| line.find("\t#"))
                .map_or(line, |at| line.get(..at).unwrap_or(line));
            (Some((name.to_owned(), bare.trim_end().to_owned())), end)
        }
    }
}

/// What stands between quotes, and the length with them.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut inner = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                let (_, next) = letters.next()?;
                match next {
                    'n' if quote == '"' => inner.push('\n'),
                    '\\' | '\'' | '"' => inner.push(next),
                    _ => inner.extend(['\\', next]),
                }
            }
            letter if letter == quote => return Some((inner, at + 1)),
            letter => inner.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests;
