//! A model of few words, in the shape of Anthropic's Messages API, so that a client can be shown at work.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};

use super::{Body, body, pace};

/// More than a context window holds.
const LONGEST: usize = 64 * 1024 * 1024;
const WORDS: [&str; 4] = ["Hello", " from", " the", " lab."];

pub(super) async fn messages(request: Request<Incoming>) -> Response<Body> {
    let Ok(asked) = Limited::new(request.into_body(), LONGEST).collect().await else {
        return body::text(StatusCode::PAYLOAD_TOO_LARGE, "too long a question\n");
    };
    let asked: Value = serde_json::from_slice(&asked.to_bytes()).unwrap_or_default();
    let model = asked.get("model").and_then(Value::as_str).unwrap_or("lab-1").to_owned();
    if asked.get("stream").and_then(Value::as_bool) == Some(true) {
        let events = events(&model).into_iter().map(event);
        return body::typed(StatusCode::OK, "text/event-stream", pace::paced(events, Duration::ZERO));
    }
    let mut message = message(&model);
    if let Some(fields) = message.as_object_mut() {
        fields.insert("content".into(), json!([{ "type": "text", "text": WORDS.concat() }]));
        fields.insert("stop_reason".into(), "end_turn".into());
    }
    body::json(&message)
}

fn message(model: &str) -> Value {
    json!({
        "id": "msg_lab", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": WORDS.len() },
    })
}

fn events(model: &str) -> Vec<Value> {
    let start = [
        json!({ "type": "message_start", "message": message(model) }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
    ];
    let words = WORDS.iter().map(
        |word| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": word } }),
    );
    let end = [
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null },
                "usage": { "output_tokens": WORDS.len() } }),
        json!({ "type": "message_stop" }),
    ];
    start.into_iter().chain(words).chain(end).collect()
}

fn event(value: Value) -> Bytes {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    Bytes::from(format!("event: {kind}\ndata: {value}\n\n"))
}
