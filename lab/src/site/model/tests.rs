use super::turn::{Talk, Turn};
use super::*;
use serde_json::json;

fn errand(method: &str, path: &str) -> Option<Errand> {
    Errand::of(&Request::builder().method(method).uri(path).body(()).unwrap())
}

#[test]
fn the_path_tells_the_protocol() {
    for (method, path, wanted) in [
        ("POST", "/v1/messages", Some(Errand::Messages)),
        ("POST", "/v1/messages?beta=true", Some(Errand::Messages)),
        ("POST", "/anthropic/v1/messages", Some(Errand::Messages)),
        ("POST", "/v1/messages/count_tokens?beta=true", Some(Errand::CountMessages)),
        ("POST", "/v1/responses", Some(Errand::Responses)),
        ("POST", "/backend-api/codex/responses", Some(Errand::Responses)),
        ("POST", "/compatible-mode/v1/chat/completions", Some(Errand::Chat)),
        ("POST", "/zen/v1/chat/completions", Some(Errand::Chat)),
        ("POST", "/v1beta/models/g:generateContent", Some(Errand::Gemini { stream: false })),
        ("POST", "/v1internal:streamGenerateContent?alt=sse", Some(Errand::Gemini { stream: true })),
        ("POST", "/v1beta/models/g:countTokens", Some(Errand::CountGemini)),
        ("GET", "/v1/models", Some(Errand::Side(Side::Models))),
        ("HEAD", "/api/hello", Some(Errand::Side(Side::Hello))),
        ("GET", "/api/claude_code/policy_limits", Some(Errand::Side(Side::Limits))),
        ("GET", "/api/claude_code/settings", Some(Errand::Side(Side::Absent))),
        ("GET", "/v1/messages", None),
        ("GET", "/v1/responses", None),
        ("GET", "/", None),
        ("POST", "/", None),
    ] {
        assert_eq!(errand(method, path), wanted, "{method} {path}");
    }
    let upgrade = Request::get("/v1/responses").header("upgrade", "websocket").body(()).unwrap();
    assert_eq!(Errand::of(&upgrade), Some(Errand::Socket));
    let stranger = Request::post("/x").header("content-type", "application/JSON").body(()).unwrap();
    assert_eq!(Errand::of(&stranger), Some(Errand::Stranger));
}

#[test]
fn a_directive_is_a_call_and_its_result_ends_it() {
    let turn = |prompt: &str, answers| {
        let conversation = json!([{ "role": "user", "content": [{ "text": prompt }] }]);
        Turn::of(Talk { conversation: Some(&conversation), answers, ..Talk::default() })
    };
    let call = Turn::Call { tool: "Bash".into(), with: json!({ "command": "ls" }) };
    let prompt = r#"do: @@call Bash {"command":"ls"} and be done"#;
    assert_eq!(turn(prompt, 0), call);
    assert_eq!(turn(prompt, 1).text(), "Hello from the lab.");
    for none in ["@@call", "@@call Bash", "@@call Bash {", "@@callBash {}", ""] {
        assert_eq!(turn(none, 0).text(), "Hello from the lab.", "{none}");
    }
}

#[test]
fn an_answer_has_the_form_that_was_asked_for() {
    let schema = json!({
        "type": "OBJECT",
        "properties": {
            "choice": { "type": "STRING", "enum": ["flash", "pro"] },
            "score": { "type": ["integer", "null"] },
            "why": { "type": "string" },
            "list": { "type": "array" },
        },
    });
    let said = Turn::of(Talk { wanted: Some(&schema), ..Talk::default() }).text();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said, json!({ "choice": "flash", "score": 1, "why": "lab", "list": [] }));
}

/// Each tool that leads to others is called once.
#[test]
fn more_tools_are_looked_for_in_every_way() {
    let tool = |turn: Option<Turn>| match turn {
        Some(Turn::Call { tool, .. }) => tool,
        other => format!("{other:?}"),
    };
    let offered = ["Bash", "Agent", "functions.exec", "collaboration.spawn_agent"];
    assert_eq!(tool(finder::next(&offered, &[])), "Agent");
    assert_eq!(tool(finder::next(&offered, &["Agent"])), "functions.exec");
    assert_eq!(tool(finder::next(&offered, &["Agent", "exec"])), "collaboration.spawn_agent");
    assert_eq!(finder::next(&offered, &["Agent", "exec", "spawn_agent"]), None);
    assert_eq!(finder::next(&["Bash"], &[]), None);
    // Only if it is told to.
    let finder = || finder::next(&offered, &[]);
    let talk = json!([{ "role": "user", "content": "say hello" }]);
    let turn =
        |talk: &Value| Turn::of(Talk { conversation: Some(talk), finder: finder(), ..Talk::default() });
    assert_eq!(turn(&talk).text(), "Hello from the lab.");
    assert_eq!(tool(Some(turn(&json!([{ "role": "user", "content": "@@more-tools" }])))), "Agent");
}
