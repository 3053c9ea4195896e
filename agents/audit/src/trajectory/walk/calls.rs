//! Calls of tools: objects that have the shape of one, in each CLI's way.

use std::borrow::Cow;

use super::super::json::Json;
use super::names::{ARGUMENTS, CALLS, IDS, LISTS, NAMES};
use super::{Call, Sink, Spot, visit};

/// Calls that this object is or has; the fields that they take up.
pub(super) fn calls<'v>(value: &'v Json<'_>, key: &str, spot: &Spot, sink: &mut dyn Sink) -> Vec<&'v str> {
    let mut carried = Vec::new();
    let kind = value.text("type").unwrap_or_default();
    let lower = kind.to_ascii_lowercase();
    let listed = LISTS.contains(&key);
    let functions = matches!(key, "functionCall" | "function_call" | "invocation" | "toolCall" | "tool_call");
    let update = matches!(value.text("sessionUpdate"), Some("tool_call" | "tool_call_update"));
    let provider = matches!(kind, "server_tool_use" | "mcp_tool_use" | "web_search_call" | "mcp_call");
    // What has arguments was called; what has parameters is only declared.
    let function = value
        .get("function")
        .is_some_and(|function| function.get("arguments").is_some() && function.text("name").is_some());
    if !(listed || functions || function || update || CALLS.contains(&lower.as_str())) || provider {
        return carried;
    }
    let id = value.first_text(IDS);
    // The chat completion's `{type: "function", function: {name, arguments}}`, and what holds its call in `data` or `part`.
    let inner = ["function", "data", "payload", "state"]
        .iter()
        .find_map(|key| value.get(key).filter(|inner| inner.is_table()).map(|inner| (*key, inner)));
    let named = value.first(NAMES).and_then(Json::as_text);
    let (name, from, field) = match (named, inner) {
        (Some(name), Some((field, inner))) if value.first(ARGUMENTS).is_none() => {
            (Some(name), inner, Some(field))
        }
        (Some(name), _) => (Some(name), value, None),
        (None, Some((field, inner))) => (inner.first_text(NAMES), inner, Some(field)),
        (None, None) => (None, value, None),
    };
    let arguments = ARGUMENTS
        .iter()
        .find_map(|key| from.get(key).filter(|value| **value != Json::Null).map(|value| (*key, value)));
    let server = from.first_text(&["server", "serverName", "mcpServerName"]);
    let none = Json::Null;
    let (name, arguments, own) = match (name, arguments) {
        // Codex' items: the command, the question, the changes stand in the item itself.
        (_, _)
            if matches!(
                lower.as_str(),
                "command_execution"
                    | "exec_command_begin"
                    | "exec_command_end"
                    | "local_shell_call"
                    | "shell_call"
            ) =>
        {
            let command = from.first(&["command", "action", "commands"]).unwrap_or(&none);
            (Cow::Borrowed("shell"), command, vec!["command", "action", "parsed_cmd"])
        }
        (_, _) if lower == "web_search" => (Cow::Borrowed("web_search"), value, vec!["action"]),
        (_, _)
            if matches!(
                lower.as_str(),
                "file_change" | "patch_apply_begin" | "patch_apply_end" | "apply_patch_call"
            ) =>
        {
            (Cow::Borrowed("apply_patch"), value, vec!["changes"])
        }
        _ if update => {
            let title = value.first_text(&["title", "toolName"]).unwrap_or_default();
            let name = match value.text("kind") {
                Some("fetch") => Cow::Owned(format!("web_fetch {title}")),
                Some("execute") => Cow::Borrowed("shell"),
                Some("edit") => Cow::Borrowed("write"),
                Some("read" | "think") => Cow::Borrowed("read"),
                _ => Cow::Borrowed(title),
            };
            (name, value.first(&["rawInput", "input"]).unwrap_or(&none), vec!["rawInput", "content"])
        }
        (Some(name), arguments) => {
            let name = match server {
                Some(server) => Cow::Owned(format!("mcp__{server}__{name}")),
                None => Cow::Borrowed(name),
            };
            let (key, arguments) = arguments.unwrap_or(("", &none));
            (name, arguments, vec![key])
        }
        (None, _) => return carried,
    };
    for key in own {
        carried.extend(value.fields().iter().map(|(name, _)| name.as_ref()).filter(|name| *name == key));
    }
    if let Some(field) = field {
        // What the inner object holds beside the call, its output for one, is not searched either.
        carried.extend(value.fields().iter().map(|(name, _)| name.as_ref()).filter(|name| *name == field));
        provider_events_in(from, spot, sink);
    }
    sink.step();
    let id = from.first_text(IDS).or(id);
    sink.call(spot, Call { name, arguments, id, provider: false });
    carried
}

/// Events beside a call in an object that is not walked otherwise.
fn provider_events_in(value: &Json<'_>, spot: &Spot, sink: &mut dyn Sink) {
    for (key, inner) in value.fields() {
        if !ARGUMENTS.contains(&key.as_ref())
            && matches!(key.as_ref(), "output" | "result" | "results" | "content")
        {
            visit(inner, key, spot, sink);
        }
    }
}
