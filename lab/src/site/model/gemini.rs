//! Gemini's generateContent.

use hyper::Response;
use serde_json::{Value, json};

use super::super::{Body, body};
use super::finder::{self, names};
use super::turn::{Talk, Turn};
use super::{data, stream};

pub(super) fn generate(asked: &Value, streamed: bool, query: Option<&str>) -> Response<Body> {
    // A code-assist host has the request one level deeper.
    let wrapped = asked.get("request").filter(|inner| inner.get("contents").is_some());
    let inner = wrapped.unwrap_or(asked);
    let turn = turn(inner);
    let told = |value: Value| if wrapped.is_some() { json!({ "response": value }) } else { value };
    let parts: Vec<Value> = match &turn {
        Turn::Say(pieces) if streamed => pieces.iter().map(|piece| json!({ "text": piece })).collect(),
        Turn::Say(_) => vec![json!({ "text": turn.text() })],
        Turn::Call { tool, with } => vec![json!({ "functionCall": { "name": tool, "args": with } })],
    };
    let last = parts.len().saturating_sub(1);
    let answers: Vec<Value> =
        parts.into_iter().enumerate().map(|(turn, part)| told(answer(&part, turn == last))).collect();
    match (streamed, query.is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"))) {
        (true, true) => stream(answers.iter().map(data).collect::<Vec<_>>()),
        (true, false) => body::json(&answers),
        (false, _) => body::json(&answers.first()),
    }
}

fn turn(asked: &Value) -> Turn {
    let conversation = asked.get("contents");
    let wanted = ["responseJsonSchema", "responseSchema"];
    let contents = conversation.and_then(Value::as_array).into_iter().flatten();
    let parts: Vec<&Value> =
        contents.filter_map(|content| content.get("parts")?.as_array()).flatten().collect();
    let tools = asked.get("tools").and_then(Value::as_array).into_iter().flatten();
    let functions = tools.filter_map(|tool| tool.get("functionDeclarations")?.as_array()).flatten();
    Turn::of(Talk {
        conversation,
        answers: parts.iter().filter(|part| part.get("functionResponse").is_some()).count(),
        wanted: wanted.iter().find_map(|key| asked.get("generationConfig")?.get(key)),
        finder: finder::next(&names(functions, "/name"), &names(parts, "/functionCall/name")),
    })
}

fn answer(part: &Value, is_last: bool) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": [part] } });
    if let Some(fields) = candidate.as_object_mut().filter(|_| is_last) {
        fields.insert("finishReason".into(), "STOP".into());
    }
    json!({
        "candidates": [candidate], "modelVersion": "lab-1", "responseId": "lab",
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
    })
}
