//! Anthropic's Messages API.

use hyper::Response;
use serde_json::{Value, json};

use super::super::{Body, body};
use super::finder::{self, names};
use super::turn::{Talk, Turn};
use super::{is_streamed, model, named, stream};

pub(super) fn messages(asked: &Value) -> Response<Body> {
    let turn = turn(asked);
    if is_streamed(asked) {
        return stream(events(model(asked), &turn).iter().map(named).collect::<Vec<_>>());
    }
    let mut message = message(model(asked));
    if let Some(fields) = message.as_object_mut() {
        let block = match &turn {
            Turn::Say(_) => json!({ "type": "text", "text": turn.text() }),
            Turn::Call { tool, with } => call(tool, with),
        };
        fields.insert("content".into(), json!([block]));
        fields.insert("stop_reason".into(), stop_reason(&turn).into());
    }
    body::json(&message)
}

fn turn(asked: &Value) -> Turn {
    let conversation = asked.get("messages");
    let wanted =
        asked.pointer("/output_config/format/schema").or_else(|| asked.pointer("/output_format/schema"));
    let blocks = conversation.map(blocks).unwrap_or_default();
    let of_kind = |kind: &str| -> Vec<&Value> {
        blocks
            .iter()
            .filter(|block| block.get("type").and_then(Value::as_str) == Some(kind))
            .copied()
            .collect()
    };
    let offered = names(asked.get("tools").and_then(Value::as_array).into_iter().flatten(), "/name");
    let finder = finder::next(&offered, &names(of_kind("tool_use"), "/name"));
    Turn::of(Talk { conversation, answers: of_kind("tool_result").len(), wanted, finder })
}

/// The blocks of all messages.
fn blocks(messages: &Value) -> Vec<&Value> {
    let messages = messages.as_array().into_iter().flatten();
    messages.filter_map(|message| message.get("content")?.as_array()).flatten().collect()
}

fn message(model: &str) -> Value {
    json!({
        "id": Turn::fresh_id("msg"), "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 },
    })
}

fn call(tool: &str, with: &Value) -> Value {
    json!({ "type": "tool_use", "id": Turn::fresh_id("toolu"), "name": tool, "input": with })
}

fn stop_reason(turn: &Turn) -> &'static str {
    match turn {
        Turn::Say(_) => "end_turn",
        Turn::Call { .. } => "tool_use",
    }
}

fn events(model: &str, turn: &Turn) -> Vec<Value> {
    let (block, deltas) = match turn {
        Turn::Say(pieces) => {
            let delta = |piece: &String| json!({ "type": "text_delta", "text": piece });
            (json!({ "type": "text", "text": "" }), pieces.iter().map(delta).collect::<Vec<_>>())
        }
        Turn::Call { tool, with } => (
            call(tool, &json!({})),
            vec![json!({ "type": "input_json_delta", "partial_json": with.to_string() })],
        ),
    };
    let start = [
        json!({ "type": "message_start", "message": message(model) }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
    ];
    let deltas =
        deltas.into_iter().map(|delta| json!({ "type": "content_block_delta", "index": 0, "delta": delta }));
    let end = [
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop_reason(turn), "stop_sequence": null },
                "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ];
    start.into_iter().chain(deltas).chain(end).collect()
}
