//! Gemini's generateContent.

use hyper::Response;
use serde_json::{Value, json};

use super::super::{Body, body};
use super::turn::{Talk, Turn};
use super::{data, stream};

pub(super) fn generate(asked: &Value, streamed: bool, query: Option<&str>) -> Response<Body> {
    // A code-assist host has the request one level deeper.
    let wrapped = asked.get("request").filter(|inner| inner.get("contents").is_some());
    let inner = wrapped.unwrap_or(asked);
    let contents = inner.get("contents");
    let wanted = ["responseJsonSchema", "responseSchema"]
        .iter()
        .find_map(|key| inner.get("generationConfig")?.get(key));
    let answered = contents.is_some_and(has_result);
    let turn = Turn::of(Talk { conversation: contents, answered, wanted, finder: None });
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

fn has_result(contents: &Value) -> bool {
    let contents = contents.as_array().into_iter().flatten();
    let parts = contents.filter_map(|content| content.get("parts")?.as_array()).flatten();
    parts.into_iter().any(|part| part.get("functionResponse").is_some())
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
