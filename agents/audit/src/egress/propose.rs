//! What a log says about the lists of a file, as a unified diff: entries that nothing used go, wildcards become the names
//! that they have carried. Nothing that was refused is ever added.

use std::collections::BTreeMap;
use std::ops::Range;

use closedbook_document::{Format, Node, Unreadable};
use closedbook_policy::Entry;

use super::report::Report;

mod diff;

/// An allow list in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The phase that it is for.
    pub phase: String,
    /// Its texts, and where each stands, its quotes included.
    pub items: Vec<(String, Range<usize>)>,
}

/// The allow lists of a policy file: `phase.NAME.allow`.
pub fn lists(source: &str) -> Result<Vec<List>, Unreadable> {
    let source = plain(source);
    let format = if source.trim_start().starts_with('{') { Format::Json } else { Format::Toml };
    let root = format.read(source)?;
    let phases = root.get("phase").map(|phases| phases.fields().collect::<Vec<_>>()).unwrap_or_default();
    Ok(phases
        .into_iter()
        .filter_map(|(name, phase)| {
            Some(List { phase: name.text.clone(), items: items(source, phase.get("allow")?) })
        })
        .collect())
}

/// The hosts that a row of an agent table needs for installing: `agents.NAME.setup`. Its provider's hosts are other rows'
/// too, so nothing is proposed about them.
pub fn lists_of_row(source: &str, agent: &str) -> Result<Vec<List>, Unreadable> {
    let source = plain(source);
    let root = Format::Toml.read(source)?;
    let Some(setup) = root.at_path(&["agents", agent, "setup"]) else { return Ok(Vec::new()) };
    let item = |node: &Node| {
        let host = node.get("host")?.text()?.to_owned();
        Some((host, node.at..node.at + inline_table(source.get(node.at..)?)?))
    };
    let items = setup.items().iter().filter_map(item).collect();
    Ok(vec![List { phase: "setup".to_owned(), items }])
}

/// How long the inline table that begins here is. `None` for what is none, or has tables in it.
fn inline_table(text: &str) -> Option<usize> {
    let mut at = 1;
    text.starts_with('{').then_some(())?;
    loop {
        let rest = text.get(at..)?;
        match rest.chars().next()? {
            '}' => return Some(at + 1),
            '{' | '\n' => return None,
            '"' | '\'' => at += literal(rest)?,
            c => at += c.len_utf8(),
        }
    }
}

/// The diff over this file; empty if there is nothing to propose.
pub fn proposal(file: &str, source: &str, lists: &[List], report: &Report) -> String {
    let source = plain(source);
    let mut edits = Vec::new();
    for list in lists {
        let Some(phase) = report.phases.iter().find(|phase| phase.name == list.phase) else { continue };
        let mut instead: BTreeMap<&str, Option<&[String]>> = BTreeMap::new();
        instead.extend(phase.unused.iter().map(|unused| (unused.entry.as_str(), None)));
        let carried = phase.wildcards.iter().filter(|wildcard| !wildcard.exact.is_empty());
        instead.extend(carried.map(|wildcard| (wildcard.entry.as_str(), Some(wildcard.exact.as_slice()))));
        edit(source, list, &instead, &mut edits);
    }
    edits.sort_by_key(|(range, _)| range.start);
    diff::unified(file, source, &edits)
}

/// Positions count from behind a byte order mark.
fn plain(source: &str) -> &str {
    source.strip_prefix('\u{feff}').unwrap_or(source)
}

fn items(source: &str, list: &Node) -> Vec<(String, Range<usize>)> {
    let item = |node: &Node| {
        let text = node.text()?;
        Some((text.to_owned(), node.at..node.at + literal(source.get(node.at..)?)?))
    };
    list.items().iter().filter_map(item).collect()
}

/// How long the string that begins here is. `None` for those over several lines, which are left alone.
fn literal(text: &str) -> Option<usize> {
    if text.starts_with("\"\"\"") || text.starts_with("'''") {
        return None;
    }
    let quote = text.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            '\n' => return None,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A part of the source, and what stands there instead.
type Edit = (Range<usize>, String);

fn edit(source: &str, list: &List, instead: &BTreeMap<&str, Option<&[String]>>, edits: &mut Vec<Edit>) {
    let mut kept: Option<usize> = None;
    let mut removed_last = false;
    for (text, range) in &list.items {
        let entry = Entry::parse(text).ok();
        match entry.as_ref().and_then(|entry| instead.get(entry.as_str())) {
            None => (kept, removed_last) = (Some(range.end), false),
            Some(Some(exact)) => {
                let quoted: Vec<String> = exact.iter().map(|entry| format!("\"{entry}\"")).collect();
                edits.push((range.clone(), quoted.join(", ")));
                (kept, removed_last) = (Some(range.end), false);
            }
            Some(None) => {
                let end = range.end + separator(source.get(range.end..).unwrap_or_default());
                // A last item has no comma behind it; then the one before it goes.
                removed_last = !source.get(range.end..end).unwrap_or_default().contains(',');
                edits.push((range.start..end, String::new()));
            }
        }
    }
    if let (true, Some(kept)) = (removed_last, kept) {
        let rest = source.get(kept..).unwrap_or_default();
        let comma = kept + rest.len() - rest.trim_start().len();
        if let Some(after) = rest.trim_start().strip_prefix(',') {
            let spaces = after.len() - after.trim_start_matches([' ', '\t']).len();
            // The space before a comment stays.
            let is_before_item = after.trim_start_matches([' ', '\t']).starts_with(['"', '\'']);
            let end = comma + 1 + if is_before_item { spaces } else { 0 };
            edits.push((comma..end, String::new()));
        }
    }
}

/// The spaces, the comma and the spaces behind an item, on its line.
fn separator(rest: &str) -> usize {
    let blank = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let before = blank(rest);
    match rest.get(before..).and_then(|rest| rest.strip_prefix(',')) {
        Some(after) => before + 1 + blank(after),
        None => 0,
    }
}
