//! What a program's source does, as far as it concerns the network.
//!
//! One reading for all languages: comments go, string literals are told from code and put together where the source
//! puts them together, and then calls are looked for that talk to the network, run commands, or run more source.

use super::finding::around;
use super::shell::{Output, Shell};

mod addresses;
mod calls;
mod commands;
mod disguise;
mod effects;
mod imports;
mod modules;
mod notebook;
mod present;
mod source;
mod takes_text;

use source::Source;

/// Literals of one source that are followed.
const MOST: usize = 2000;

/// Reads source that something else carries.
pub(crate) fn run(shell: &mut Shell<'_>, via: &str, code: &str) -> Output {
    shell.within(via, code.len(), |shell| scan(shell, code)).unwrap_or(Output::Unknown)
}

/// Reads source.
pub(crate) fn scan(shell: &mut Shell<'_>, code: &str) -> Output {
    notebook::lines(shell, code);
    let source = Source::read(code);
    let mut scan = Scan { shell, source: &source, code };
    scan.calls();
    scan.imports();
    scan.addresses();
    scan.disguised();
    printed(&source)
}

/// What a source that prints may print: its literals.
fn printed(source: &Source) -> Output {
    let prints = ["print", "cat(", "puts", "echo", "write", "console.log", "say"]
        .iter()
        .any(|word| source.flat.contains(word));
    let text: Vec<&str> = source
        .literals
        .iter()
        .map(|literal| literal.value.as_str())
        .filter(|value| value.len() > 2)
        .collect();
    if prints && !text.is_empty() { Output::Text(text.join("\n")) } else { Output::Unknown }
}

/// Commands that a program in another language names in its literals, as awk's `system("...")`.
pub(crate) fn commands_in(shell: &mut Shell<'_>, code: &str) {
    let source = Source::read(code);
    let mut scan = Scan { shell, source: &source, code };
    scan.calls();
}

/// The calls of `tools.NAME(...)` in JavaScript: the name, the literals, the place.
pub(crate) fn tool_calls(code: &str) -> Vec<(String, Vec<String>, String)> {
    let source = Source::read(code);
    let mut calls = Vec::new();
    for (at, mark) in source.flat.match_indices("tools").take(MOST) {
        let rest = source.flat.get(at + mark.len()..).unwrap_or_default();
        let name = match rest.strip_prefix('.').or_else(|| rest.strip_prefix("?.")) {
            Some(name) => word(name).trim_end_matches(".call").trim_end_matches(".apply"),
            // `tools["web__" + "run"]`
            None => match rest.strip_prefix("[\"").and_then(|rest| rest.split_once('"')) {
                Some((name, _)) => name,
                None => continue,
            },
        };
        if name.is_empty() {
            continue;
        }
        let start = at + mark.len() + rest.find('(').unwrap_or(0);
        let group = source.group(start, "");
        calls.push((name.to_owned(), source.literals_in(group), around(&source.flat, at)));
    }
    // However it is called.
    let hidden = source.literals.iter().find(|literal| literal.value == "web__run");
    if let Some(literal) = hidden.filter(|_| !calls.iter().any(|(name, ..)| name == "web__run")) {
        calls.push((literal.value.clone(), Vec::new(), around(&source.flat, literal.at)));
    }
    calls
}

struct Scan<'s, 'w> {
    shell: &'s mut Shell<'w>,
    source: &'s Source,
    code: &'s str,
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// A call's name without its parenthesis.
fn clean(name: &str) -> &str {
    name.trim_end_matches(['(', ' ', '`', '"'])
}

#[cfg(test)]
mod tests;
