//! G15, G16: what can't be understood is said to be so, and nothing panics.

use super::*;

#[test]
fn a_turn_that_is_no_document_is_unread() {
    for body in
        [Said::Octets, Said::Text("{".into()), Said::Nothing, Said::Json(json!([1])), Said::Json(json!("x"))]
    {
        let mut request = asked("/v1/messages", Value::Null);
        request.body = body;
        let offer = offer(vec![request]);
        assert_eq!((offer.turns, offer.unread.len()), (0, 1), "{offer:?}");
    }
}

#[test]
fn lists_that_are_none_are_unread() {
    for tools in [
        json!("WebSearch"),
        json!({ "web": 1 }),
        json!([1]),
        json!([{}]),
        json!([{ "type": "function" }]),
        json!([{ "type": "function", "function": { "name": 7 } }]),
        json!([{ "type": "namespace", "name": "a" }]),
        json!([{ "type": "namespace", "name": "a", "tools": 7 }]),
        json!([{ "functionDeclarations": { "name": "a" } }]),
    ] {
        let offer = one("/v1/responses", json!({ "model": "m", "input": [], "tools": tools }));
        assert!(!offer.unread.is_empty(), "{offer:?}");
    }
    let offer = one("/v1/responses", json!({ "model": "m", "input": [{ "type": "additional_tools" }] }));
    assert!(!offer.unread.is_empty(), "{offer:?}");
}

#[test]
fn depth_is_bounded() {
    let mut tools = json!([{ "type": "function", "name": "deep" }]);
    let mut text = json!("deferred tools are now available\nWebSearch");
    for _ in 0..500 {
        tools = json!([{ "type": "namespace", "name": "n", "tools": tools }]);
        text = json!([text]);
    }
    let offer = one("/v1/responses", json!({ "model": "m", "input": text, "tools": tools }));
    assert!(offer.unread.iter().any(|unread| unread.why.contains("no list")), "{offer:?}");
}

/// G16: work grows with what comes, and no faster.
#[test]
fn numbers_are_bounded() {
    let tools: Vec<Value> = (0..200_000).map(|number| json!({ "name": format!("tool{number}") })).collect();
    let offer = one("/v1/messages", json!({ "model": "m", "messages": [], "tools": tools }));
    assert!(offer.tools.len() <= MOST && offer.unread[0].why.contains("more than"), "{:?}", offer.unread);
    let spaces: Vec<Value> =
        (0..50_000).map(|number| json!({ "type": "namespace", "name": format!("{number}") })).collect();
    let offer = one("/v1/responses", json!({ "model": "m", "input": [], "tools": spaces }));
    assert_eq!(offer.unread.len(), MOST_NOTED);
    let items: Vec<String> = (0..200_000).map(|number| format!("- \"tool{number}\": x")).collect();
    let text = format!("tools are reachable through `tool_search`\n{}", items.join("\n"));
    let offer =
        one("/chat/completions", json!({ "model": "m", "messages": [{ "role": "user", "content": text }] }));
    assert!(offer.tools.len() <= MOST && !offer.unread.is_empty());
}

#[test]
fn odd_texts() {
    for text in [
        "deferred tools are now available",
        "deferred tools are now available\n",
        "DEFERRED TOOLS ARE NOW AVAILABLE\n\u{1b}[2J\n",
        "<available-deferred-tools>",
        "tools are reachable through `tool_search`",
        "tools are reachable through `tool_search`\n- \"",
        "declare const tools: {",
        "### `",
        "\u{130}\u{130}deferred tools are now available\n\u{130}",
    ] {
        let body = json!({ "model": "m", "messages": [{ "role": "user", "content": text }],
            "tools": [{ "name": "x", "description": text }] });
        let offer = one("/v1/messages", body);
        assert_eq!(tools(&offer), [("x", How::Declared)], "{text}");
    }
}

#[test]
fn a_tape_that_is_cut_off_is_malformed() {
    let line = r#"{"method":"POST","host":"h","path":"/v1/messages","headers":[],"octets":2,"form":"json","body":{}}"#;
    let whole = format!("{line}\n{{\"dropped\":2}}\n");
    let tape = Tape::read("tape", whole.as_bytes()).unwrap();
    assert_eq!((tape.requests.len(), tape.dropped), (1, 2));
    assert!(Offer::read(&tape, "", &[]).unread[0].why.contains("2 requests"));
    for length in 0..whole.len() - 1 {
        assert!(Tape::read("tape", &whole.as_bytes()[..length]).is_err(), "{length}");
    }
    let error = Tape::read("tape", b"{\"dropped\":0}\n{}\n").unwrap_err();
    assert!(error.to_string().starts_with("tape, line 2"), "{error}");
    let error = Tape::read("tape", format!("{line}\n{{\"method\":1}}\n").as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with("tape, line 2"), "{error}");
    assert!(Tape::read("tape", b"\xff\n").is_err());
    let none = r#"{"method":"GET","host":"h","path":"/","headers":[],"octets":0,"form":"nothing"}"#;
    assert_eq!(
        Tape::read("t", format!("{none}\n{{\"dropped\":0}}").as_bytes()).unwrap().requests[0].body,
        Said::Nothing
    );
}
