//! Lists of tools: functions, namespaces of functions, and types that the provider knows.

use serde_json::Value;

use super::{DEEPEST, How, Offer, inside, reach, string};

/// Reads the list of a request, and lists that hang on items of the conversation.
pub(super) fn read(offer: &mut Offer, number: usize, body: &Value) {
    match body.get("tools") {
        None | Some(Value::Null) => {}
        Some(tools) => all(offer, number, tools, "", DEEPEST),
    }
    // The functions of OpenAI's first days.
    if let Some(functions) = body.get("functions").filter(|functions| !functions.is_null()) {
        all(offer, number, functions, "", DEEPEST);
    }
    for item in body.get("input").and_then(Value::as_array).into_iter().flatten() {
        match string(item, "type") {
            Some("additional_tools" | "tool_search_output") => match item.get("tools") {
                Some(tools) => all(offer, number, tools, "", DEEPEST),
                None => offer.unread(Some(number), "an item that adds tools has no list of them"),
            },
            Some("mcp_list_tools") => mcp_list(offer, number, item),
            Some(kind) if kind.ends_with("_call_output") => inside::output(offer, number, item),
            _ => {}
        }
    }
}

fn all(offer: &mut Offer, number: usize, tools: &Value, space: &str, depth: usize) {
    let (Some(tools), Some(below)) = (tools.as_array(), depth.checked_sub(1)) else {
        return offer.unread(Some(number), format!("the tools{} are no list", of(space)));
    };
    for tool in tools {
        one(offer, number, tool, space, below);
    }
}

fn one(offer: &mut Offer, number: usize, tool: &Value, space: &str, depth: usize) {
    if !offer.looks_at_one_more(Some(number)) {
        return;
    }
    let Some(fields) = tool.as_object() else {
        return offer.unread(Some(number), format!("a tool{} that is no object", of(space)));
    };
    match (string(tool, "type"), string(tool, "name")) {
        (Some("namespace"), Some(name)) => match tool.get("tools") {
            Some(tools) => all(offer, number, tools, &joined(space, name), depth),
            None => offer.unread(Some(number), format!("the namespace {name} has no tools")),
        },
        (Some("function" | "custom") | None, Some(name)) => {
            function(offer, number, tool, &joined(space, name))
        }
        (Some(kind @ ("function" | "custom")), None) => {
            match tool.get(kind).and_then(|inner| Some((inner, string(inner, "name")?))) {
                Some((inner, name)) => function(offer, number, inner, &joined(space, name)),
                None => offer.unread(Some(number), "a function without a name"),
            }
        }
        (Some(kind), _) => offer.add(kind, How::ProviderType, reach::runs_at_provider(kind), Some(number)),
        // Gemini: a field for each kind of tool, and one for all functions.
        (None, None) if !fields.is_empty() => {
            for (key, value) in fields {
                match key.as_str() {
                    "functionDeclarations" | "function_declarations" => {
                        all(offer, number, value, space, depth)
                    }
                    _ if value.is_null() => {}
                    key => offer.add(key, How::ProviderType, true, Some(number)),
                }
            }
        }
        (None, None) => offer.unread(Some(number), "a tool without a name or a type"),
    }
}

fn function(offer: &mut Offer, number: usize, tool: &Value, name: &str) {
    let known = offer.tools.iter().any(|tool| tool.name == name);
    let deferred = tool.get("defer_loading").and_then(Value::as_bool) == Some(true);
    offer.add(name, if deferred { How::Deferred } else { How::Declared }, false, Some(number));
    let bare = takes_nothing(tool);
    for tool in offer.tools.iter_mut().filter(|tool| tool.name == name) {
        tool.bare = bare && (tool.bare || !known);
    }
    if let Some(description) = string(tool, "description") {
        inside::description(offer, number, name, description);
    }
}

/// Whether the tool says that it takes no arguments.
fn takes_nothing(tool: &Value) -> bool {
    let schema =
        ["parameters", "input_schema", "parametersJsonSchema"].iter().find_map(|field| tool.get(field));
    let is_empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
    schema.is_some_and(|schema| {
        let closed = matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false)));
        string(schema, "type") == Some("object") && closed && schema.get("properties").is_some_and(is_empty)
    })
}

/// What a provider's MCP client found: names of tools that the model may call there.
fn mcp_list(offer: &mut Offer, number: usize, item: &Value) {
    let server = string(item, "server_label").unwrap_or("server");
    for tool in item.get("tools").and_then(Value::as_array).into_iter().flatten() {
        match string(tool, "name") {
            Some(name) => offer.add(&format!("mcp__{server}__{name}"), How::Mcp, true, Some(number)),
            None => offer.unread(Some(number), format!("a tool of the MCP server {server} without a name")),
        }
    }
}

/// The namespace `functions` is where plain functions are, and no part of their names.
fn joined(space: &str, name: &str) -> String {
    match space {
        "" | "functions" => name.to_owned(),
        space => format!("{space}.{name}"),
    }
}

fn of(space: &str) -> String {
    if space.is_empty() { String::new() } else { format!(" of {space}") }
}
