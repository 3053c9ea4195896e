//! One tool call: what of it reaches the network.

mod fields;
mod runs;

use super::code;
use super::finding::{Confidence, Kind, Level, Raw, Runs};
use super::hosts;
use super::json::{self, Json};
use super::patch;
use super::shell::{Shell, World};
use super::tools::{self, Class};
use fields::ADDRESSES;

/// Tools in tools are followed so far.
const DEEPEST: usize = 4;

/// What a call does on the network.
pub(crate) fn judge(world: &mut World, name: &str, arguments: &Json<'_>) -> Vec<Raw> {
    let mut shell = Shell::new(world);
    call(&mut shell, name, arguments, 0);
    shell.found
}

fn call(shell: &mut Shell<'_>, name: &str, arguments: &Json<'_>, depth: usize) {
    // Arguments often come as JSON in a text.
    if let Json::Text(text) = arguments
        && text.trim_start().starts_with(['{', '['])
        && let Ok(inner) = json::parse(text)
    {
        return call(shell, name, &inner, depth);
    }
    match tools::classify(name) {
        Class::Web(runs) => web(shell, Kind::WebTool, runs, name, arguments),
        Class::Forge => web(shell, Kind::CodeHost, Runs::Client, name, arguments),
        Class::Mcp => mcp(shell, name, arguments),
        Class::Shell => runs::commands(shell, arguments),
        Class::Code => runs::sources(shell, arguments),
        Class::Write => writes(shell, arguments),
        Class::Relay => relay(shell, name, arguments, depth),
        Class::Local => local(shell, name, arguments),
        Class::Unknown => unknown(shell, name, arguments),
    }
}

fn web(shell: &mut Shell<'_>, kind: Kind, runs: Runs, name: &str, arguments: &Json<'_>) {
    let mut found = Vec::new();
    texts(arguments, &mut |key, text| {
        found.extend(hosts::outside_hosts(text));
        if ADDRESSES.contains(&key) || matches!(key, "domain" | "host") {
            found.extend(hosts::bare(text).filter(|host| !hosts::is_here(host)));
        }
    });
    // A browser tool or a request to this machine is no network.
    let mut any = false;
    let mut away = false;
    texts(arguments, &mut |_, text| {
        any |= hosts::urls(text).next().is_some();
        away |= hosts::outside(text).next().is_some();
    });
    if any && !away && runs == Runs::Client {
        return;
    }
    let reason =
        if kind == Kind::CodeHost { format!("`{name}` reads a code host") } else { "web tool call".into() };
    let raw = Raw::new(kind, reason, &json::shown(arguments, 400)).hosts(hosts::once(found.into_iter()));
    shell.report(if runs == Runs::Provider { raw.provider() } else { raw });
}

fn mcp(shell: &mut Shell<'_>, name: &str, arguments: &Json<'_>) {
    let found = all_hosts(arguments);
    let raw =
        Raw::new(Kind::McpCall, format!("`{name}` is a tool of an MCP server"), &json::shown(arguments, 400));
    let raw = match has_address(arguments) {
        true => raw.likely(),
        false => raw.likely().note(),
    };
    shell.report(raw.hosts(found));
}

fn has_address(arguments: &Json<'_>) -> bool {
    let mut found = false;
    texts(arguments, &mut |_, text| found |= hosts::outside(text).next().is_some());
    found
}

fn all_hosts(arguments: &Json<'_>) -> Vec<String> {
    let mut found = Vec::new();
    texts(arguments, &mut |_, text| found.extend(hosts::outside_hosts(text)));
    hosts::once(found.into_iter())
}

/// A tool that writes files.
fn writes(shell: &mut Shell<'_>, arguments: &Json<'_>) {
    patch::from_arguments(&mut shell.world.files, arguments);
    texts_only(shell, arguments);
}

/// A tool that calls another one.
fn relay(shell: &mut Shell<'_>, name: &str, arguments: &Json<'_>, depth: usize) {
    let inner = arguments.first_text(&[
        "name",
        "tool_name",
        "tool",
        "toolName",
        "function",
        "function_name",
        "recipient_name",
    ]);
    if let Some(inner) = inner.filter(|_| depth < DEEPEST) {
        let server = arguments.first_text(&["server", "server_name"]);
        let full = server.map_or_else(|| inner.to_owned(), |server| format!("mcp__{server}__{inner}"));
        let rest = arguments
            .first(&["arguments", "args", "input", "parameters", "params", "tool_input"])
            .unwrap_or(arguments);
        return call(shell, &full, rest, depth + 1);
    }
    let mut several = false;
    for (key, value) in arguments.fields() {
        if matches!(key.as_ref(), "tool_calls" | "tool_uses" | "invocations" | "calls" | "tools")
            && depth < DEEPEST
        {
            for item in value.items() {
                several = true;
                relay(shell, name, item, depth + 1);
            }
        }
    }
    if !several {
        unknown(shell, name, arguments);
    }
}

/// A tool that stays on the machine; only a path can still lead away.
fn local(shell: &mut Shell<'_>, name: &str, arguments: &Json<'_>) {
    let mut away = None;
    texts(arguments, &mut |key, text| {
        let is_path = key.contains("path") || key.contains("file") || key.contains("url");
        if is_path && hosts::outside(text).next().is_some_and(|url| url.at == 0) {
            away.get_or_insert_with(|| text.to_owned());
        }
    });
    if let Some(text) = away {
        let raw = Raw::new(Kind::Url, format!("`{name}` is given an address for a file"), &text);
        shell.report(raw.hosts(hosts::outside_hosts(&text)).likely());
        return;
    }
    // Loading a web tool is no use of it yet.
    let mut wanted = Vec::new();
    if name.to_ascii_lowercase().contains("search") {
        texts(arguments, &mut |_, text| {
            wanted.extend(
                text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
                    .filter(|word| {
                        word.len() > 3 && matches!(tools::classify(word), Class::Web(_) | Class::Forge)
                    })
                    .map(str::to_owned),
            );
        });
    }
    if (name == "ToolSearch" || name == "tool_search" || name == "search_tool")
        && let Some(first) = wanted.first()
    {
        shell.report(
            Raw::new(Kind::Offer, format!("the model asked for `{first}`"), &json::shown(arguments, 300))
                .note(),
        );
    }
    texts_only(shell, arguments);
}

/// A tool of which nothing is known: its fields say what it may do.
fn unknown(shell: &mut Shell<'_>, name: &str, arguments: &Json<'_>) {
    let mut found = Vec::new();
    let mut used: Option<String> = None;
    texts(arguments, &mut |key, text| {
        if matches!(key, "command" | "cmd" | "script" | "code" | "bash_command" | "keystrokes") {
            shell.script(text);
            code::run(shell, "", text);
            return;
        }
        let whole = hosts::outside(text)
            .next()
            .is_some_and(|url| url.at == 0 && url.text.len() == text.trim_end().len());
        if whole || ADDRESSES.contains(&key) && hosts::outside(text).next().is_some() {
            found.extend(hosts::outside_hosts(text));
            used.get_or_insert_with(|| text.to_owned());
        }
    });
    if let Some(text) = used {
        let raw = Raw::new(Kind::Url, format!("an address is given to the tool `{name}`"), &text);
        shell.report(raw.hosts(hosts::once(found.into_iter())).likely());
        return;
    }
    texts_only(shell, arguments);
}

/// Addresses in arguments that nothing runs.
fn texts_only(shell: &mut Shell<'_>, arguments: &Json<'_>) {
    let mut first: Option<String> = None;
    let mut found = Vec::new();
    texts(arguments, &mut |_, text| {
        if let Some(url) = hosts::outside(text).next() {
            first.get_or_insert_with(|| super::finding::around(text, url.at));
            found.extend(hosts::outside_hosts(text));
        }
    });
    if let Some(first) = first {
        let mut raw =
            Raw::new(Kind::Url, "an address that is only text", &first).hosts(hosts::once(found.into_iter()));
        raw.level = Level::Note;
        raw.confidence = Confidence::TextOnly;
        shell.report(raw);
    }
}

/// Every text in a value, with the field that holds it.
fn texts(value: &Json<'_>, each: &mut dyn FnMut(&str, &str)) {
    fn go(key: &str, value: &Json<'_>, each: &mut dyn FnMut(&str, &str)) {
        match value {
            Json::Text(text) => each(key, text),
            Json::List(items) => items.iter().for_each(|item| go(key, item, each)),
            Json::Table(fields) => fields.iter().for_each(|(key, value)| go(key, value, each)),
            _ => {}
        }
    }
    go("", value, each);
}
