//! OpenAI's Chat Completions API, which most others speak too.

use hyper::Response;
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::super::{Body, body};
use super::finder::{self, names};
use super::turn::{Talk, Turn};
use super::{data, is_streamed, model, stream};

pub(super) fn completions(asked: &Value) -> Response<Body> {
    let turn = turn(asked);
    let id = Turn::fresh_id("chatcmpl");
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 });
    if !is_streamed(asked) {
        let message = match &turn {
            Turn::Say(_) => json!({ "role": "assistant", "content": turn.text() }),
            Turn::Call { .. } => json!({ "role": "assistant", "content": null, "tool_calls": [call(&turn)] }),
        };
        let choice = json!({ "index": 0, "message": message, "finish_reason": finish(&turn) });
        return body::json(&json!({
            "id": id, "object": "chat.completion", "created": 1, "model": model(asked),
            "choices": [choice], "usage": usage,
        }));
    }
    let chunk = |choices: Value, usage: &Value| {
        json!({
            "id": id, "object": "chat.completion.chunk", "created": 1, "model": model(asked),
            "choices": choices, "usage": usage,
        })
    };
    let part = |delta: Value, finish: Option<&str>| {
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), &Value::Null)
    };
    let deltas: Vec<Value> = match &turn {
        Turn::Say(pieces) => {
            pieces.iter().map(|piece| json!({ "role": "assistant", "content": piece })).collect()
        }
        Turn::Call { .. } => {
            vec![json!({ "role": "assistant", "content": null, "tool_calls": [call(&turn)] })]
        }
    };
    let mut events: Vec<Bytes> = deltas.into_iter().map(|delta| data(&part(delta, None))).collect();
    events.push(data(&part(json!({}), Some(finish(&turn)))));
    // A chunk without choices carries the usage, where it was asked for; nobody minds it otherwise.
    events.push(data(&chunk(json!([]), &usage)));
    events.push(Bytes::from_static(b"data: [DONE]\n\n"));
    stream(events)
}

fn turn(asked: &Value) -> Turn {
    let conversation = asked.get("messages");
    let messages: Vec<&Value> = conversation.and_then(Value::as_array).into_iter().flatten().collect();
    let calls = messages.iter().filter_map(|message| message.get("tool_calls")?.as_array()).flatten();
    let called = names(calls, "/function/name");
    let offered = names(asked.get("tools").and_then(Value::as_array).into_iter().flatten(), "/function/name");
    Turn::of(Talk {
        conversation,
        answers: names(messages, "/role").into_iter().filter(|role| *role == "tool").count(),
        wanted: asked.pointer("/response_format/json_schema/schema"),
        finder: finder::next(&offered, &called),
    })
}

fn call(turn: &Turn) -> Value {
    let Turn::Call { tool, with } = turn else { return Value::Null };
    json!({
        "index": 0, "id": Turn::fresh_id("call"), "type": "function",
        "function": { "name": tool, "arguments": with.to_string() },
    })
}

fn finish(turn: &Turn) -> &'static str {
    match turn {
        Turn::Say(_) => "stop",
        Turn::Call { .. } => "tool_calls",
    }
}
