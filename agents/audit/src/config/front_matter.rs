//! The settings at the head of a Markdown file: between two lines of three dashes, in YAML.

use closedbook_document::{Format, Node, Unreadable};

/// The settings; `None` if the file has none. Places are those of the whole file.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<Node>, Unreadable> {
    let text = str::from_utf8(bytes).map_err(|error| Unreadable {
        at: error.valid_up_to(),
        what: closedbook_document::Syntax::NotUtf8,
    })?;
    let Some(head) = head(text) else { return Ok(None) };
    if head.trim().is_empty() {
        return Ok(None);
    }
    // Blank lines in place of what comes before keep the places.
    let start = text.find(head).unwrap_or_default();
    let blank: String = text.get(..start).unwrap_or_default().chars().filter(|c| *c == '\n').collect();
    let lead = blank.len();
    let shift = |at: usize| (at + start).saturating_sub(lead);
    match Format::Yaml.read(&format!("{blank}{head}")) {
        Ok(mut node) => {
            moved(&mut node, &shift);
            Ok(Some(node))
        }
        Err(fault) => Err(Unreadable { at: shift(fault.at), ..fault }),
    }
}

/// The lines between the dashes.
fn head(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---")?;
    let (dashes, rest) = rest.split_once('\n')?;
    if !dashes.trim().is_empty() {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return rest.get(..at);
        }
        at += line.len();
    }
    None
}

fn moved(node: &mut Node, shift: &impl Fn(usize) -> usize) {
    node.at = shift(node.at);
    match &mut node.value {
        closedbook_document::Value::Table(fields) => fields.iter_mut().for_each(|(key, value)| {
            key.at = shift(key.at);
            moved(value, shift);
        }),
        closedbook_document::Value::List(items) => items.iter_mut().for_each(|item| moved(item, shift)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
