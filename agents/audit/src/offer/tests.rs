use serde_json::json;

use super::*;

mod hostile;
mod judging;

fn asked(path: &str, body: Value) -> Taped {
    Taped {
        method: "POST".into(),
        host: "api.example".into(),
        path: path.into(),
        headers: Vec::new(),
        body: Said::Json(body),
    }
}

fn offer(requests: Vec<Taped>) -> Offer {
    Offer::read(&Tape { requests, dropped: 0 }, "", &[])
}

fn one(path: &str, body: Value) -> Offer {
    offer(vec![asked(path, body)])
}

fn tools(offer: &Offer) -> Vec<(&str, How)> {
    offer.tools.iter().map(|tool| (tool.name.as_str(), tool.how)).collect()
}

fn web(offer: &Offer) -> Vec<&str> {
    offer.web().map(|(tool, _)| tool.name.as_str()).collect()
}

/// Claude Code 2.1.295: neither of its web tools is in the list.
#[test]
fn deferred_tools_named_in_a_text() {
    let text = "# Environment\nsome words\n\nThe following deferred tools are now available via ToolSearch. Use it \
                first:\nCronCreate\nWebFetch\nWebSearch\n\nAvailable agent types:\n- Explore";
    let body = json!({
        "model": "claude-opus-5-5", "stream": true,
        "tools": [
            { "name": "Bash", "input_schema": {} },
            { "name": "ToolSearch", "input_schema": {}, "description": "Fetches schemas" },
            { "name": "DeferredToolPlaceholder", "defer_loading": true, "input_schema": {} },
        ],
        "messages": [
            { "role": "user", "content": "hi" },
            { "role": "system", "content": [{ "type": "text", "text": text }] },
        ],
    });
    let offer = one("/v1/messages?beta=true", body.clone());
    assert_eq!(
        tools(&offer),
        [
            ("Bash", How::Declared),
            ("ToolSearch", How::Declared),
            ("DeferredToolPlaceholder", How::Deferred),
            ("CronCreate", How::Deferred),
            ("WebFetch", How::Deferred),
            ("WebSearch", How::Deferred),
        ]
    );
    assert_eq!((offer.turns, offer.unread.len()), (1, 0), "{offer:?}");
    assert_eq!(
        (offer.models.as_slice(), offer.hosts.as_slice()),
        (&["claude-opus-5-5".into()][..], &["api.example".into()][..])
    );
    assert_eq!(web(&offer), ["WebFetch", "WebSearch"]);

    // The older form.
    let mut older = body.clone();
    older["messages"] = json!([{ "role": "user", "content": "<available-deferred-tools>\nWebFetch\nMonitor\n</available-deferred-tools>" }]);
    assert_eq!(web(&one("/v1/messages", older)), ["WebFetch"]);

    // G15: a loader whose tools nobody names is no sign of their absence.
    let mut silent = body;
    silent["messages"] = json!([{ "role": "user", "content": "hi" }]);
    let offer = one("/v1/messages", silent);
    assert!(offer.unread[0].why.contains("ToolSearch loads tools"), "{offer:?}");
}

#[test]
fn deferred_tools_by_their_field() {
    let body = json!({ "model": "m", "messages": [], "tools": [
        { "name": "WebFetch", "input_schema": {}, "defer_loading": true },
        { "type": "web_search_20250305", "name": "web_search", "max_uses": 8 },
        { "type": "custom", "name": "Read", "input_schema": {} },
    ] });
    let offer = one("/v1/messages", body);
    let expected =
        [("WebFetch", How::Deferred), ("web_search_20250305", How::ProviderType), ("Read", How::Declared)];
    assert_eq!(tools(&offer), expected);
    assert_eq!(offer.tools.iter().map(|tool| tool.provider_side).collect::<Vec<_>>(), [false, true, false]);
}

/// Claude Code's WebSearch asks the model host again, with a tool of the provider.
#[test]
fn a_second_request() {
    let main = json!({ "model": "a", "messages": [], "tools": [{ "name": "Bash" }] });
    let second = json!({ "model": "b", "messages": [], "tools": [{ "type": "web_search_20250305", "name": "web_search" }] });
    let offer = offer(vec![asked("/v1/messages", main), asked("/v1/messages", second)]);
    assert_eq!(tools(&offer), [("Bash", How::Declared), ("web_search_20250305", How::SecondRequest)]);
    assert_eq!(offer.models, ["a", "b"]);
    assert_eq!(web(&offer), ["web_search_20250305"]);
}

/// Codex 0.162.0 with its default model: no list at all.
#[test]
fn tools_on_an_item_and_inside_another() {
    let exec = "Run JavaScript\n- All nested tools are available on the global `tools` object, for example \
                `await tools.exec_command(...)`, `await tools.mcp__ologs__get_profile(...)`.\n\n### `apply_patch`\nEdits.\n\n\
                ```ts\ndeclare const tools: { apply_patch(input: string): Promise<unknown>; };\n```\n\n### `web__run`\n\
                Browse.\n```ts\ndeclare const tools: { web__run(args: {}): Promise<unknown>; };\n```";
    let body = |description: &str| {
        json!({ "model": "gpt-6.1-sol", "input": [
            { "type": "additional_tools", "role": "developer", "tools": [
                { "type": "namespace", "name": "functions", "tools": [
                    { "type": "custom", "name": "exec", "description": description },
                    { "type": "function", "name": "wait", "description": "Waits." },
                ] },
                { "type": "namespace", "name": "clock", "tools": [{ "type": "function", "name": "sleep" }] },
            ] },
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "hi" }] },
        ] })
    };
    let offer = one("/v1/responses", body(exec));
    assert_eq!(
        tools(&offer),
        [
            ("exec", How::Declared),
            ("apply_patch", How::InsideAnother),
            ("web__run", How::InsideAnother),
            ("wait", How::Declared),
            ("clock.sleep", How::Declared),
        ]
    );
    assert_eq!(web(&offer), ["web__run"]);
    assert_eq!(offer.unread, []);

    let none = one("/v1/responses", body("All are on the global `tools` object. See ALL_TOOLS."));
    assert!(none.unread[0].why.contains("exec has tools inside"), "{none:?}");

    // A description that says itself that it does not name them all, and then the list of all of them.
    let partial = format!("{exec}\nSome deferred nested tools may be omitted from this description.");
    let mut asked_for = body(&partial);
    assert!(one("/v1/responses", asked_for.clone()).unread[0].why.contains("leaves out"));
    let all = r#"[{"name":"exec_command","description":"x"},{"name":"web__run","description":"y"}]"#;
    asked_for["input"].as_array_mut().unwrap().push(json!({
        "type": "custom_tool_call_output", "call_id": "1",
        "output": [{ "type": "input_text", "text": "Script completed\n" }, { "type": "input_text", "text": all }],
    }));
    let known = one("/v1/responses", asked_for);
    assert_eq!(known.unread, []);
    assert!(tools(&known).contains(&("exec_command", How::InsideAnother)));
}

#[test]
fn types_of_the_responses_api() {
    let body = json!({ "model": "gpt-5.5", "input": "hi", "tools": [
        { "type": "function", "name": "exec_command" },
        { "type": "tool_search", "execution": "client" },
        { "type": "web_search", "external_web_access": true },
        { "type": "x_search" },
        { "type": "code_interpreter", "container": {} },
        { "type": "mcp", "server_label": "a", "server_url": "https://a.example" },
        { "type": "quantum_leap" },
    ] });
    let offer = one("/v1/responses", body);
    let reaches: Vec<_> = offer.web().map(|(tool, reach)| (tool.name.as_str(), reach)).collect();
    assert_eq!(
        reaches,
        [
            ("web_search", Reach::Web),
            ("x_search", Reach::Web),
            ("code_interpreter", Reach::Provider),
            ("mcp", Reach::Web),
            ("quantum_leap", Reach::Unknown),
        ]
    );
}

#[test]
fn chat_completions_and_what_comes_with_them() {
    let function = |name: &str| json!({ "type": "function", "function": { "name": name, "parameters": {} } });
    let body = json!({ "model": "anthropic/claude:online", "messages": [], "tools": [function("bash"), function("webfetch")],
        "plugins": [{ "id": "web" }, { "id": "file-parser", "enabled": false }], "web_search_options": {},
        "extra_body": { "enable_search": true } });
    let offer = one("/api/v1/chat/completions", body);
    assert_eq!(
        tools(&offer),
        [
            ("model anthropic/claude:online", How::Request),
            ("bash", How::Declared),
            ("webfetch", How::Declared),
            ("web_search_options", How::Request),
            ("plugin web", How::Request),
            ("enable_search", How::Request),
        ]
    );
    let off = json!({ "model": "m", "messages": [], "plugins": [{ "id": "web", "enabled": false }],
        "enable_search": false, "search_parameters": { "mode": "off" }, "mcp_servers": [], "web_search_options": null });
    assert_eq!(tools(&one("/chat/completions", off)), []);
}

/// Qwen Code 0.24.4.
#[test]
fn deferred_tools_in_a_reminder() {
    let reminder = "<system-reminder>\nThe following tools are reachable through `tool_search` and `tool_call`. Review \
                    first.\n\n### Bundled\n- \"task_stop\": \"Stop a \\\"task\\\".\"\n- \"web_fetch\": \"Fetches\"\n\
                    ### Server \"leaky\"\n- \"mcp__leaky__find\": \"x\"\n</system-reminder>\n- \"no_tool\": \"x\"";
    let function = |name: &str| json!({ "type": "function", "function": { "name": name } });
    let body = json!({ "model": "q", "tools": [function("edit"), function("tool_search"), function("tool_call")],
        "messages": [{ "role": "user", "content": [{ "type": "text", "text": reminder }] }] });
    let offer = one("/compatible-mode/v1/chat/completions", body);
    assert_eq!(
        tools(&offer)[3..],
        [("task_stop", How::Deferred), ("web_fetch", How::Deferred), ("mcp__leaky__find", How::Mcp)]
    );
    assert_eq!(offer.unread, []);
}

#[test]
fn gemini() {
    let body = json!({ "contents": [], "tools": [
        { "functionDeclarations": [{ "name": "web_fetch" }, { "name": "replace" }] }, { "googleSearch": {} }, { "urlContext": {} },
    ] });
    for (path, body) in [
        ("/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse", body.clone()),
        ("/v1internal:generateContent", json!({ "model": "gemini-3.8-flash", "request": body })),
    ] {
        let offer = one(path, body);
        assert_eq!(web(&offer), ["web_fetch", "googleSearch", "urlContext"], "{path}");
        assert_eq!(offer.unread, [], "{path}");
    }
    assert_eq!(
        one("/v1beta/models/gemini-3.8-flash:generateContent", json!({ "contents": [] })).models,
        ["gemini-3.8-flash"]
    );
}

#[test]
fn what_the_cli_prints() {
    let printed = "Warning: x\n{\"type\":\"system\",\"subtype\":\"init\",\"tools\":[\"Bash\",\"WebSearch\"],\
                   \"mcp_servers\":[{\"name\":\"leaky\",\"status\":\"connected\"}]}\n{broken\n{\"type\":\"result\"}";
    let offer = Offer::read(&Tape::default(), printed, &[]);
    assert_eq!(tools(&offer), [("Bash", How::Listed), ("WebSearch", How::Listed), ("mcp__leaky", How::Mcp)]);
    assert_eq!(offer.turns, 0);
}

#[test]
fn names_and_what_they_say() {
    for name in [
        "WebSearch",
        "web_fetch",
        "webfetch",
        "google_web_search",
        "FetchURL",
        "SearchWeb",
        "read_web_page",
        "mcp__a__web-search",
        "x_search",
        "browser_navigate",
        "open_url",
        "web__run",
        "fetch",
        "tavily_search",
    ] {
        assert!(reach::sounds_like_web(name), "{name}");
    }
    for name in [
        "Bash",
        "grep_search",
        "tool_search",
        "ToolSearch",
        "search_replace",
        "Read",
        "list_mcp_resources",
        "exec",
        "update_goal",
        "curly",
        "DesignSync",
        "zoom_image",
        "SearchCobwebs",
    ] {
        assert!(!reach::sounds_like_web(name), "{name}");
    }
}

/// GitHub Copilot CLI 1.0.102.
#[test]
fn a_tool_that_takes_nothing_goes_nowhere() {
    let function = |name: &str, parameters: Value| json!({ "type": "function", "function": { "name": name, "parameters": parameters } });
    let nothing = json!({ "type": "object", "properties": {} });
    let body = json!({ "model": "gpt-4o", "messages": [], "tools": [
        function("fetch_copilot_cli_documentation", nothing),
        function("web_fetch", json!({ "type": "object", "properties": { "url": {} } })),
        function("web_open", json!({ "type": "object", "properties": {}, "additionalProperties": true })),
        function("web_any", json!({})),
        { "type": "custom", "custom": { "name": "apply_patch", "format": {} } },
    ] });
    let offer = one("/v1/chat/completions", body);
    assert_eq!(web(&offer), ["web_fetch", "web_open", "web_any"]);
    assert_eq!(tools(&offer)[4], ("apply_patch", How::Declared));
    // One that the row names fails all the same.
    let row = ["fetch_copilot_cli_documentation"];
    assert_eq!(judge(&row, &offer, &offer).weight(), Weight::Failure);
}

/// Telemetry tells of tools, and asks no model.
#[test]
fn what_is_no_turn_is_passed_over() {
    let report = json!({ "events": [{ "tools": ["WebSearch"] }] });
    let mut hello = asked("/api/hello", Value::Null);
    (hello.method, hello.body) = ("HEAD".into(), Said::Nothing);
    let offer = offer(vec![asked("/api/event_logging/v2/batch", report), hello]);
    assert_eq!(offer, Offer::default());
    // Counting tokens is no turn, but has the same list.
    let count = json!({ "model": "m", "messages": [], "tools": [{ "name": "WebSearch" }] });
    assert_eq!(web(&one("/v1/messages/count_tokens", count)), ["WebSearch"]);
}
