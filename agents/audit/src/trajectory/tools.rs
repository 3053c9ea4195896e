//! What a tool is, by its name.

mod local;
mod runs;
mod web;

use super::finding::Runs;
use local::{LOCAL, WRITES};
use runs::{CODES, RELAYS, SHELLS};
use web::{FORGES, MCP_REACH, REACH, WEB};

/// What a tool does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Searches or reads the web.
    Web(Runs),
    /// Reads a forge.
    Forge,
    /// A tool of an MCP server of which nothing more is known.
    Mcp,
    /// Runs commands.
    Shell,
    /// Runs source.
    Code,
    /// Writes files.
    Write,
    /// Calls other tools.
    Relay,
    /// Reads and changes what is here, plans, asks: an address in its arguments is text.
    Local,
    /// Nothing is known of it.
    Unknown,
}

/// What a tool is.
pub(crate) fn classify(name: &str) -> Class {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_mcp = name.starts_with("mcp__")
        || name.starts_with("mcp.")
        || has(&["mcp"]) && words.len() > 1
        || name.contains("codex_apps");
    if let Some((_, runs)) = WEB.iter().find(|(known, _)| *known == plain) {
        return Class::Web(*runs);
    }
    if name.contains("web__run") {
        return Class::Web(Runs::Provider);
    }
    if LOCAL.contains(&plain.as_str()) {
        return Class::Local;
    }
    if RELAYS.contains(&plain.as_str()) {
        return Class::Relay;
    }
    if has(FORGES) {
        return Class::Forge;
    }
    if has(REACH) || is_mcp && has(MCP_REACH) || name.contains("codex_apps") {
        return Class::Web(Runs::Client);
    }
    if WRITES.contains(&plain.as_str()) {
        return Class::Write;
    }
    if has(SHELLS) || plain.contains("bash") || plain.contains("shell") || plain.contains("terminal") {
        return Class::Shell;
    }
    if has(CODES) || plain.contains("python") || plain.starts_with("run") && plain.ends_with('r') {
        return Class::Code;
    }
    if is_mcp {
        return Class::Mcp;
    }
    if has(&["write", "edit", "patch"]) {
        return Class::Write;
    }
    Class::Unknown
}

/// The words of `snake_case`, `kebab-case`, `camelCase` and `mcp__server__tool`.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    for c in name.chars().take(256) {
        if (!c.is_alphanumeric() || (c.is_uppercase() && lower_before)) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests;
