//! The models: each protocol in a stream and at once, and the tape.

use closedbook_lab::Said;
use serde_json::{Value, json};

use crate::client::{Answer, ask, https, tcp, v4};
use crate::harness::Guest;

const DIRECTIVE: &str = "please @@call Bash {\"command\":\"ls\"}";

async fn post(guest: &Guest, host: &str, path: &str, body: &Value) -> Answer {
    let mut stream = https(&guest.ca(), host).await;
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer s3cret\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    ask(&mut stream, &(head + &body)).await
}

/// The data of all events that are JSON.
fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let data = answer.text().lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// What stands at this place in each event that has it, joined.
fn joined(events: &[Value], pointer: &str) -> String {
    events.iter().filter_map(|event| event.pointer(pointer)?.as_str()).collect()
}

pub(crate) async fn messages_are_answered(guest: Guest) {
    let ask = async |body: Value| post(&guest, "api.anthropic.com", "/v1/messages?beta=true", &body).await;
    let said = events(&ask(json!({ "model": "m", "stream": true, "messages": [] })).await);
    assert_eq!(joined(&said, "/delta/text"), "Hello from the lab.");
    assert_eq!(joined(&said, "/delta/stop_reason"), "end_turn");

    let conversation = json!([{ "role": "user", "content": [{ "type": "text", "text": DIRECTIVE }] }]);
    let called = events(&ask(json!({ "stream": true, "messages": conversation })).await);
    assert_eq!(joined(&called, "/content_block/name"), "Bash");
    assert_eq!(joined(&called, "/delta/partial_json"), r#"{"command":"ls"}"#);
    assert_eq!(joined(&called, "/delta/stop_reason"), "tool_use");
    let mut longer = conversation.clone();
    let result = json!({ "type": "tool_result", "tool_use_id": "toolu_lab", "content": "a" });
    longer.as_array_mut().unwrap().push(json!({ "role": "user", "content": [result] }));
    assert_eq!(ask(json!({ "messages": longer })).await.json()["stop_reason"], "end_turn");
    let whole = ask(json!({ "messages": conversation })).await.json();
    assert_eq!(whole["content"][0]["input"]["command"], "ls");

    let more = json!({ "messages": [{ "role": "user", "content": "@@more-tools" }], "tools": [{ "name": "ToolSearch" }] });
    assert_eq!(ask(more).await.json()["content"][0]["name"], "ToolSearch");
    let count = post(&guest, "api.anthropic.com", "/v1/messages/count_tokens", &json!({})).await;
    assert_eq!(count.json(), json!({ "input_tokens": 1 }));
}

pub(crate) async fn responses_are_answered(guest: Guest) {
    let ask = async |body: Value| post(&guest, "api.openai.com", "/v1/responses", &body).await;
    let said = events(&ask(json!({ "model": "m", "stream": true, "input": "hi" })).await);
    assert_eq!(joined(&said, "/delta"), "Hello from the lab.");
    let kinds: Vec<&str> = said.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("response.created", "response.completed"));
    assert_eq!(said.last().unwrap()["response"]["output"][0]["content"][0]["text"], "Hello from the lab.");

    let user = |text: &str| json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] });
    let called = ask(json!({ "input": [user("@@call clock.sleep {\"s\":1}")] })).await.json();
    let call = &called["output"][0];
    assert_eq!(
        (&call["type"], &call["namespace"], &call["name"]),
        (&json!("function_call"), &json!("clock"), &json!("sleep"))
    );
    let custom = ask(json!({ "input": [user("@@call exec \"text(1)\"")] })).await.json();
    assert_eq!(
        (&custom["output"][0]["type"], &custom["output"][0]["input"]),
        (&json!("custom_tool_call"), &json!("text(1)"))
    );
    let output = json!({ "type": "custom_tool_call_output", "call_id": "call_lab", "output": "1" });
    let done = ask(json!({ "input": [user("@@call exec \"text(1)\""), output] })).await.json();
    assert_eq!(done["output"][0]["type"], "message");

    let mut stream = tcp((v4("api.openai.com"), 80)).await;
    let upgrade = "GET /v1/responses HTTP/1.1\r\nhost: api.openai.com\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    assert_eq!(crate::client::ask(&mut stream, upgrade).await.status, 426);
}

pub(crate) async fn chats_are_answered(guest: Guest) {
    for (host, path) in [
        ("openrouter.ai", "/api/v1/chat/completions"),
        ("dashscope.aliyuncs.com", "/compatible-mode/v1/chat/completions"),
        ("opencode.ai", "/zen/v1/chat/completions"),
    ] {
        let answer = post(&guest, host, path, &json!({ "stream": true, "messages": [] })).await;
        assert_eq!(joined(&events(&answer), "/choices/0/delta/content"), "Hello from the lab.");
        assert!(answer.text().ends_with("data: [DONE]\n\n"));
        let messages = json!([{ "role": "user", "content": DIRECTIVE }]);
        let called =
            events(&post(&guest, host, path, &json!({ "stream": true, "messages": messages })).await);
        assert_eq!(
            joined(&called, "/choices/0/delta/tool_calls/0/function/arguments"),
            r#"{"command":"ls"}"#
        );
        assert_eq!(joined(&called, "/choices/0/finish_reason"), "tool_calls");
        let whole = post(&guest, host, path, &json!({ "messages": [] })).await.json();
        assert_eq!(whole["choices"][0]["message"]["content"], "Hello from the lab.");
    }
}

pub(crate) async fn gemini_is_answered(guest: Guest) {
    let ask = async |verb: &str, body: Value| {
        let path = format!("/v1beta/models/gemini-3.8-flash:{verb}");
        post(&guest, "generativelanguage.googleapis.com", &path, &body).await
    };
    let contents = |text: &str| json!([{ "role": "user", "parts": [{ "text": text }] }]);
    let said = events(&ask("streamGenerateContent?alt=sse", json!({ "contents": contents("hi") })).await);
    assert_eq!(joined(&said, "/candidates/0/content/parts/0/text"), "Hello from the lab.");
    assert_eq!(joined(&said, "/candidates/0/finishReason"), "STOP");
    let called = ask("generateContent", json!({ "contents": contents(DIRECTIVE) })).await.json();
    assert_eq!(called["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]["command"], "ls");
    let schema = json!({ "type": "OBJECT", "properties": { "score": { "type": "INTEGER" } } });
    let config = json!({ "responseMimeType": "application/json", "responseJsonSchema": schema });
    let shaped = ask("generateContent", json!({ "contents": contents("rate"), "generationConfig": config }))
        .await
        .json();
    assert_eq!(shaped["candidates"][0]["content"]["parts"][0]["text"], r#"{"score":1}"#);
    let list = ask("streamGenerateContent", json!({ "contents": contents("hi") })).await.json();
    assert_eq!(list.as_array().unwrap().len(), 4);
    let count = ask("countTokens", json!({})).await;
    assert_eq!(count.json(), json!({ "totalTokens": 1 }));
}

/// What a client asks beside is answered so that it goes on, and a stranger is answered as before.
pub(crate) async fn questions_beside_are_answered(guest: Guest) {
    let get = |path: &'static str| crate::client::get("api.anthropic.com", path);
    assert_eq!(get("/v1/models").await.json()["data"][0]["id"], "lab-1");
    assert_eq!(get("/api/claude_code/policy_limits").await.json(), json!({ "restrictions": {} }));
    assert_eq!(get("/api/claude_code/settings").await.status, 404);
    assert_eq!(get("/api/hello").await.status, 200);
    let stranger = post(&guest, "api.x.ai", "/somewhere", &json!({ "a": 1 })).await.json();
    assert_eq!((&stranger["path"], &stranger["method"]), (&json!("/somewhere"), &json!("POST")));
}

pub(crate) async fn the_tape_has_what_models_were_asked(guest: Guest) {
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] });
    post(&guest, "api.anthropic.com", "/v1/messages", &body).await;
    post(&guest, "api.x.ai", "/unknown?key=s3cret&a=b", &json!([1])).await;
    crate::client::get("api.openai.com", "/v1/models").await;
    crate::client::get("example.com", "/bytes/5").await;
    let recording = guest.control().recording().unwrap();
    let told: Vec<_> = recording
        .requests
        .iter()
        .map(|one| (one.method.as_str(), one.host.as_str(), one.path.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("POST", "api.anthropic.com", "/v1/messages"),
            ("POST", "api.x.ai", "/unknown?key=(not kept)&a=b"),
            ("GET", "api.openai.com", "/v1/models"),
        ]
    );
    assert_eq!(recording.requests[0].body, Said::Json(body));
    assert_eq!(recording.requests[2].body, Said::Nothing);
    assert_eq!(recording.dropped, 0);
    let text = serde_json::to_string(&recording).unwrap();
    assert!(text.contains(r#"["authorization","(not kept)"]"#) && !text.contains("s3cret"), "{text}");
}
