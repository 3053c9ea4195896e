//! Finds tool calls and events of the provider in a transcript's values, wherever they stand.
//!
//! Every CLI nests them differently, and differently in the next version, so nothing here follows a path from the root:
//! an object that has the shape of a call is one. What a call carries is not searched for further calls.

use std::borrow::Cow;

use super::finding::{Kind, Raw};
use super::hosts;
use super::json::{self, Json};
use super::tools::{self, Class};

/// Where in a transcript something stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spot {
    pub(crate) line: Option<usize>,
    pub(crate) step: Option<usize>,
    pub(crate) step_id: Option<String>,
    pub(crate) ts: Option<String>,
}

/// A call of a tool.
pub(crate) struct Call<'v, 'a> {
    pub(crate) name: Cow<'v, str>,
    pub(crate) arguments: &'v Json<'a>,
    pub(crate) id: Option<&'v str>,
    /// The call is made at the provider.
    pub(crate) provider: bool,
}

/// Takes what is found.
pub(crate) trait Sink {
    /// A tool was called.
    fn call(&mut self, spot: &Spot, call: Call<'_, '_>);
    /// The provider did something.
    fn event(&mut self, spot: &Spot, name: &str, id: Option<&str>, raw: Raw);
    /// The agent acted or spoke.
    fn step(&mut self);
}

/// Names of events that only a provider's own tools have.
const EVENTS: &[&str] = &[
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "web_search_call",
    "web_fetch_call",
    "mcp_call",
    "file_search_call",
    "code_interpreter_call",
    "computer_call",
    "x_search_call",
    "url_citation",
    "web_search_result",
    "web_search_result_location",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_call_output",
    "web_search_begin",
    "web_search_end",
    "image_generation_call",
    "mcp_approval_request",
    "search_result_location",
    "web_fetch_result",
    "x_search",
    "live_search",
];

/// Of those, what is no use of the web.
const HARMLESS: &[&str] = &["tool_search_call_output", "image_generation_call", "search_result_location"];

/// Types of objects that are calls of the CLI's own tools.
const CALLS: &[&str] = &[
    "tool_use",
    "function_call",
    "custom_tool_call",
    "tool_call",
    "tool-call",
    "toolcall",
    "local_shell_call",
    "tool",
    "tool.execution_start",
    "command_execution",
    "mcp_tool_call",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "web_search",
    "exec_command_begin",
    "exec_command_end",
    "functioncall",
    "toolusestart",
    "tool_call_request",
    "tool_use_start",
    "tool_execution_start",
    "shell_call",
    "apply_patch_call",
    "file_change",
    "patch_apply_begin",
    "patch_apply_end",
    "tool-invocation",
];

/// Lists of calls, by the name of their field.
const LISTS: &[&str] = &["tool_calls", "toolCalls", "toolRequests", "toolUses"];

const NAMES: &[&str] = &["function_name", "name", "tool_name", "toolName", "tool"];

const ARGUMENTS: &[&str] = &[
    "arguments",
    "args",
    "input",
    "parameters",
    "rawInput",
    "params",
    "action",
    "raw_input",
    "toolArgs",
    "operation",
];

const IDS: &[&str] = &["tool_call_id", "call_id", "callID", "callId", "toolCallId", "tool_use_id", "id"];

/// Walks a value.
pub(crate) fn walk(value: &Json<'_>, spot: &Spot, sink: &mut dyn Sink) {
    visit(value, "", spot, sink);
}

fn visit(value: &Json<'_>, key: &str, spot: &Spot, sink: &mut dyn Sink) {
    match value {
        Json::List(items) => list(items, key, spot, sink),
        Json::Table(_) => table(value, key, spot, sink),
        _ => {}
    }
}

fn list(items: &[Json<'_>], key: &str, spot: &Spot, sink: &mut dyn Sink) {
    let steps = matches!(key, "steps" | "messages" | "history");
    for (index, item) in items.iter().enumerate() {
        if steps && item.is_table() {
            let mut spot = spot.clone();
            spot.step = Some(index);
            visit(item, key, &spot, sink);
        } else {
            visit(item, key, spot, sink);
        }
    }
}

fn table(value: &Json<'_>, key: &str, spot: &Spot, sink: &mut dyn Sink) {
    let owned = here(value, key, spot);
    let spot = owned.as_ref().unwrap_or(spot);
    if is_step(value, key) {
        sink.step();
    }
    offers(value, spot, sink);
    provider(value, spot, sink);
    let carried = calls(value, key, spot, sink);
    for (key, inner) in value.fields() {
        let key = key.as_ref();
        // Declarations of tools are no calls, and what a call carries is its own matter.
        if matches!(key, "tools" | "additional_tools" | "tool_definitions") && matches!(inner, Json::List(_))
            || carried.contains(&key)
        {
            continue;
        }
        visit(inner, key, spot, sink);
    }
}

/// The place, where this object says more of it.
fn here(value: &Json<'_>, key: &str, spot: &Spot) -> Option<Spot> {
    let ts =
        value.first(&["timestamp", "ts", "time", "startTime", "time_created", "created_at"]).and_then(|ts| {
            match ts {
                Json::Text(text) => Some(text.to_string()),
                Json::Number(text) => Some((*text).to_owned()),
                Json::Table(_) => {
                    ts.first(&["start", "created"]).and_then(Json::as_number).map(|ms| format!("{ms:.0}"))
                }
                _ => None,
            }
        });
    let step_id = match value.get("step_id") {
        Some(Json::Text(text)) => Some(text.to_string()),
        Some(Json::Number(text)) => Some((*text).to_owned()),
        _ if matches!(key, "" | "messages") => {
            value.first_text(&["uuid", "id", "message_id"]).map(str::to_owned)
        }
        _ => None,
    };
    if ts.is_none() && step_id.is_none() {
        return None;
    }
    let mut spot = spot.clone();
    spot.ts = ts.or(spot.ts);
    spot.step_id = step_id.or(spot.step_id);
    Some(spot)
}

/// Whether an object is something that the agent did or said.
fn is_step(value: &Json<'_>, key: &str) -> bool {
    if key == "steps" {
        return match value.text("source") {
            Some(source) => source == "agent",
            None => true,
        };
    }
    if matches!(value.text("role"), Some("assistant" | "model" | "agent")) {
        return true;
    }
    let Some(kind) = value.text("type").or_else(|| value.text("sessionUpdate")) else { return false };
    CALLS.contains(&kind.to_ascii_lowercase().as_str())
        || matches!(
            kind,
            "assistant"
                | "gemini"
                | "model"
                | "agent_message"
                | "agent_message_chunk"
                | "agent_thought_chunk"
                | "assistant.message"
                | "assistant.turn_start"
                | "step_start"
                | "step-start"
                | "StepBegin"
                | "ContentPart"
                | "turn.started"
                | "item.started"
                | "agent_reasoning"
                | "thinking"
                | "step.begin"
        )
}

/// Calls that this object is or has; the fields that they take up.
fn calls<'v>(value: &'v Json<'_>, key: &str, spot: &Spot, sink: &mut dyn Sink) -> Vec<&'v str> {
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

/// What a provider's own tools leave.
fn provider(value: &Json<'_>, spot: &Spot, sink: &mut dyn Sink) {
    let id = value.first_text(IDS);
    if let Some(kind) = value.text("type").filter(|kind| EVENTS.contains(kind)) {
        let name = value.first_text(&["name", "tool_name", "server_label", "server_name"]);
        let arguments =
            value.first(&["input", "arguments", "action", "query", "url", "content"]).unwrap_or(value);
        let reason = name.map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"));
        let raw = Raw::new(Kind::ProviderTool, reason, &json::shown(arguments, 400))
            .hosts(all_hosts(value))
            .provider();
        sink.event(spot, kind, id, if HARMLESS.contains(&kind) { raw.note() } else { raw });
    }
    let mut event = |name: &str, what: &Json<'_>| {
        let raw =
            Raw::new(Kind::ProviderTool, name, &json::shown(what, 400)).hosts(all_hosts(what)).provider();
        sink.event(spot, name, id, raw);
    };
    for (key, inner) in value.fields() {
        match key.as_ref() {
            "groundingMetadata"
            | "grounding_metadata"
            | "urlContextMetadata"
            | "url_context_metadata"
            | "citationMetadata"
                if inner.fields().iter().any(|(_, value)| value.says_something()) =>
            {
                event(key, inner);
            }
            "webSearchRequests"
            | "web_search_requests"
            | "web_fetch_requests"
            | "webFetchRequests"
            | "num_sources_used"
            | "num_server_side_tools_used"
                if inner.as_number().is_some_and(|count| count > 0.0) =>
            {
                event(key, inner);
            }
            "server_side_tool_usage" if inner.fields().iter().any(|(_, value)| value.says_something()) => {
                event(key, inner)
            }
            // A list of addresses, as xAI and Perplexity give it. The documents of the request have other citations.
            "citations" | "search_results" if all_texts_lead_away(inner) => event(key, inner),
            // What Claude Code keeps of its web tools' results.
            "toolUseResult"
                if inner.get("searchCount").is_some()
                    || (inner.get("url").is_some() && inner.get("bytes").is_some()) =>
            {
                event("toolUseResult", inner);
            }
            _ => {}
        }
    }
}

fn all_texts_lead_away(value: &Json<'_>) -> bool {
    !value.items().is_empty()
        && value.items().iter().all(|item| {
            let text = item.as_text().or_else(|| item.first_text(&["url", "uri", "link"]));
            text.is_some_and(|text| hosts::outside(text).next().is_some())
        })
}

/// The hosts of all addresses in a value, a few at most.
fn all_hosts(value: &Json<'_>) -> Vec<String> {
    fn go(value: &Json<'_>, found: &mut Vec<String>) {
        if found.len() > 50 {
            return;
        }
        match value {
            Json::Text(text) if text.len() < 64 << 10 => found.extend(hosts::outside_hosts(text)),
            Json::List(items) => items.iter().for_each(|item| go(item, found)),
            Json::Table(fields) => fields.iter().for_each(|(_, value)| go(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    go(value, &mut found);
    hosts::once(found.into_iter())
}

/// Web tools that the model was offered.
fn offers(value: &Json<'_>, spot: &Spot, sink: &mut dyn Sink) {
    let mut offered: Vec<&str> = Vec::new();
    for (key, inner) in value.fields() {
        if !matches!(
            key.as_ref(),
            "tools" | "addedNames" | "additional_tools" | "tool_definitions" | "offered_tools"
        ) {
            continue;
        }
        for item in inner.items() {
            let function = item.get("function").and_then(|function| function.text("name"));
            let names = [item.as_text(), item.text("name"), function, item.text("type")];
            offered.extend(names.into_iter().flatten().filter(|name| {
                name.starts_with("web_search")
                    || name.starts_with("x_search")
                    || matches!(tools::classify(name), Class::Web(_) | Class::Forge)
            }));
        }
    }
    offered.dedup();
    if let Some(first) = offered.first() {
        let raw = Raw::new(Kind::Offer, "web tools are offered to the model", &offered.join(", ")).note();
        sink.event(spot, first, None, raw);
    }
}
