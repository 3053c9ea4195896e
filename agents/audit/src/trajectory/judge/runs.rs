//! Tools that run what they are given: commands, what is typed, source.

use super::super::code;
use super::super::finding::{Kind, Level, Raw};
use super::super::hosts;
use super::super::json::Json;
use super::super::patch;
use super::super::shell::{Output, Shell};
use super::super::tools::{self, Class};
use super::fields::{COMMANDS, REMARKS, SOURCES, TYPED};
use super::{texts, texts_only};

/// A tool that runs commands.
pub(super) fn commands(shell: &mut Shell<'_>, arguments: &Json<'_>) {
    match arguments {
        Json::Text(text) => {
            // Codex' `exec` takes JavaScript that calls the tools.
            if text.contains("tools.") || text.contains("tools[") {
                return tool_source(shell, text);
            }
            shell.script(text);
        }
        Json::List(items) => words(shell, items),
        Json::Table(fields) => {
            // `{"action": {"command": [...], "env": {...}}}`
            for (key, value) in fields {
                let key = key.as_ref();
                match value {
                    Json::Table(inner) if matches!(key, "env" | "environment") => {
                        for (variable, value) in inner {
                            if let Some(value) = value.as_text() {
                                let words = ["export".to_owned(), format!("{variable}={value}")];
                                shell.command(&words, Output::none());
                            }
                        }
                    }
                    _ if REMARKS.contains(&key) => remark(shell, value),
                    Json::Text(text) if TYPED.contains(&key) => typed(shell, text),
                    Json::Text(text) if text.contains("tools.") && key == "input" => tool_source(shell, text),
                    Json::Text(text) if COMMANDS.contains(&key) => {
                        shell.script(text);
                    }
                    Json::Text(text)
                        if text.contains(char::is_whitespace) || hosts::urls(text).next().is_some() =>
                    {
                        shell.script(text);
                    }
                    Json::List(items) if key == "commands" => {
                        for item in items {
                            commands(shell, item);
                        }
                    }
                    Json::List(items) => words(shell, items),
                    Json::Table(_) => commands(shell, value),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// `["bash", "-lc", "..."]`
fn words(shell: &mut Shell<'_>, items: &[Json<'_>]) {
    if items.iter().any(Json::is_table) {
        for item in items {
            commands(shell, item);
        }
        return;
    }
    let words: Vec<String> = items.iter().filter_map(|item| item.as_text().map(str::to_owned)).collect();
    match words.as_slice() {
        [script] if script.contains(char::is_whitespace) => {
            shell.script(script);
        }
        words => {
            shell.command(words, Output::none());
        }
    }
}

/// What is typed may be a shell's line, or a language's.
fn typed(shell: &mut Shell<'_>, text: &str) {
    let before = shell.found.len();
    shell.script(text);
    if !text.trim_start().starts_with("tools.") {
        code::scan(shell, text);
    }
    let mut index = 0;
    shell.found.retain(|raw| {
        index += 1;
        index <= before || raw.kind != Kind::Url || raw.level == Level::Note
    });
}

/// JavaScript that calls the CLI's tools.
fn tool_source(shell: &mut Shell<'_>, text: &str) {
    for (tool, literals, what) in code::tool_calls(text) {
        match tools::classify(&tool) {
            Class::Web(_) => {
                let found = literals.iter().flat_map(|literal| hosts::outside_hosts(literal));
                let raw =
                    Raw::new(Kind::WebTool, "web tool call", &what).hosts(hosts::once(found)).provider();
                shell.report(raw);
            }
            Class::Forge => {
                shell.report(Raw::new(Kind::CodeHost, format!("`{tool}` reads a code host"), &what))
            }
            Class::Mcp => shell.report(
                Raw::new(Kind::McpCall, format!("`{tool}` is a tool of an MCP server"), &what)
                    .likely()
                    .note(),
            ),
            Class::Write => literals.iter().for_each(|literal| patch::apply(&mut shell.world.files, literal)),
            Class::Local => {}
            _ => {
                for literal in &literals {
                    shell.script(literal);
                }
            }
        }
    }
}

/// A tool that runs source.
pub(super) fn sources(shell: &mut Shell<'_>, arguments: &Json<'_>) {
    texts(arguments, &mut |key, text| {
        if REMARKS.contains(&key) {
            return;
        }
        if key.is_empty() || SOURCES.contains(&key) || text.contains('(') {
            code::run(shell, "", text);
        }
    });
}

fn remark(shell: &mut Shell<'_>, value: &Json<'_>) {
    texts_only(shell, value);
}
