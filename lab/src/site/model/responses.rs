//! OpenAI's Responses API, which xAI and DashScope speak too.

use hyper::Response;
use serde_json::{Value, json};

use super::super::{Body, body};
use super::finder::{self, names};
use super::turn::{Talk, Turn};
use super::{is_streamed, model, named, stream};

pub(super) fn responses(asked: &Value) -> Response<Body> {
    let turn = turn(asked);
    let (id, response_id) = (Turn::fresh_id("item"), Turn::fresh_id("resp"));
    let item = item(&turn, &id);
    let response = |status, output| response(&response_id, model(asked), status, output);
    let whole = response("completed", json!([item]));
    if !is_streamed(asked) {
        return body::json(&whole);
    }
    let mut events = vec![
        json!({ "type": "response.created", "response": response("in_progress", json!([])) }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
    ];
    if let Turn::Say(pieces) = &turn {
        let delta = |piece: &String| {
            json!({ "type": "response.output_text.delta", "item_id": id, "output_index": 0,
                    "content_index": 0, "delta": piece, "logprobs": [] })
        };
        events.extend(pieces.iter().map(delta));
        events.push(json!({ "type": "response.output_text.done", "item_id": id, "output_index": 0,
                            "content_index": 0, "text": turn.text(), "logprobs": [] }));
    }
    events.push(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
    events.push(json!({ "type": "response.completed", "response": whole }));
    for (number, event) in events.iter_mut().enumerate() {
        if let Some(fields) = event.as_object_mut() {
            fields.insert("sequence_number".into(), number.into());
        }
    }
    stream(events.iter().map(named).collect::<Vec<_>>())
}

fn turn(asked: &Value) -> Turn {
    let conversation = asked.get("input");
    let items: Vec<&Value> = conversation.and_then(Value::as_array).into_iter().flatten().collect();
    let kind = |item: &Value| item.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let of_kind = |ending: &str| -> Vec<&Value> {
        items.iter().filter(|item| kind(item).ends_with(ending)).copied().collect()
    };
    let added = of_kind("additional_tools").into_iter().filter_map(|item| item.get("tools"));
    let lists = asked.get("tools").into_iter().chain(added).filter_map(Value::as_array).flatten();
    let offered = offered(lists);
    let offered: Vec<&str> = offered.iter().map(String::as_str).collect();
    Turn::of(Talk {
        conversation,
        answers: of_kind("_output").len(),
        wanted: asked.pointer("/text/format/schema"),
        finder: finder::next(&offered, &names(of_kind("_call"), "/name")),
    })
}

/// The names of all tools, those of a namespace after its name.
fn offered<'a>(tools: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut offered = Vec::new();
    for tool in tools {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        match tool.get("tools").and_then(Value::as_array) {
            // Plain functions are in a namespace of this name, which no call has.
            Some(inner) if name == "functions" => {
                offered.extend(names(inner, "/name").into_iter().map(str::to_owned))
            }
            Some(inner) => {
                offered.extend(names(inner, "/name").into_iter().map(|inner| format!("{name}.{inner}")))
            }
            None => offered.push(name.to_owned()),
        }
    }
    offered
}

fn response(id: &str, model: &str, status: &str, output: Value) -> Value {
    json!({
        "id": id, "object": "response", "created_at": 1, "status": status, "model": model, "output": output,
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {}, "parallel_tool_calls": true,
        "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": 1, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 1,
            "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 2,
        },
    })
}

/// A text as the argument makes it a call of a custom tool, whose input is no JSON.
fn item(turn: &Turn, id: &str) -> Value {
    match turn {
        Turn::Say(_) => json!({
            "type": "message", "id": id, "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": turn.text(), "annotations": [] }],
        }),
        Turn::Call { tool, with: Value::String(text) } => json!({
            "type": "custom_tool_call", "id": id, "call_id": Turn::fresh_id("call"), "name": tool, "input": text,
            "status": "completed",
        }),
        Turn::Call { tool, with } => {
            let mut call = json!({
                "type": "function_call", "id": id, "call_id": Turn::fresh_id("call"), "name": tool,
                "arguments": with.to_string(), "status": "completed",
            });
            if let (Some((space, name)), Some(fields)) = (tool.split_once('.'), call.as_object_mut()) {
                fields.insert("namespace".into(), space.into());
                fields.insert("name".into(), name.into());
            }
            call
        }
    }
}
