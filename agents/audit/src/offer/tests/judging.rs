use super::*;

fn declares(names: &[&str]) -> Offer {
    let tools: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    one("/v1/messages", json!({ "model": "m", "messages": [], "tools": tools }))
}

const ROW: [&str; 2] = ["WebSearch", "WebFetch"];

fn texts(judgement: &Judgement) -> Vec<String> {
    let line = |finding: &Finding| {
        format!("{:?} {}: {}", finding.weight, finding.tool.as_deref().unwrap_or("-"), finding.text)
    };
    judgement.findings.iter().map(line).collect()
}

#[test]
fn switches_that_work() {
    let judgement = judge(&ROW, &declares(&["Bash", "WebSearch", "WebFetch"]), &declares(&["Bash"]));
    assert_eq!(judgement, Judgement::default());
    assert_eq!(judgement.weight(), Weight::Remark);
}

#[test]
fn a_web_tool_that_stays_is_a_failure() {
    let default = declares(&["Bash", "WebSearch", "WebFetch"]);
    let judgement = judge(&ROW, &default, &declares(&["Bash", "WebFetch"]));
    assert_eq!(judgement.weight(), Weight::Failure);
    assert_eq!(
        texts(&judgement),
        ["Failure WebFetch: offered (declared, request 0) although the switches are set"]
    );
    // So is one that the row does not know, and one of the provider.
    let judgement = judge(&ROW, &default, &declares(&["Bash", "open_url"]));
    assert_eq!(judgement.weight(), Weight::Failure);
    let provider = one(
        "/v1/responses",
        json!({ "model": "m", "input": "x", "tools": [{ "type": "code_interpreter" }] }),
    );
    assert_eq!(judge(&ROW, &default, &provider).weight(), Weight::Failure);
}

/// G15: unknown is not off.
#[test]
fn what_nobody_knows_is_unknown() {
    let default = declares(&["Bash", "WebSearch", "WebFetch"]);
    let mut unread = declares(&["Bash"]);
    unread.unread(Some(3), "odd");
    let silent = Offer::default();
    let toolless = declares(&[]);
    let mcp = declares(&["Bash", "mcp__x__y"]);
    for switched in [unread, silent, toolless, mcp] {
        assert_eq!(judge(&ROW, &default, &switched).weight(), Weight::Unknown, "{switched:?}");
    }
    assert_eq!(judge(&ROW, &Offer::default(), &declares(&["Bash"])).weight(), Weight::Unknown);
}

#[test]
fn a_row_that_is_out_of_date() {
    let judgement = judge(&ROW, &declares(&["Bash", "Edit", "WebSearch", "open_url"]), &declares(&["Bash"]));
    assert_eq!(judgement.weight(), Weight::Remark);
    let texts = texts(&judgement);
    assert!(texts[0].starts_with("Remark WebFetch: a web tool of the row that is not offered"), "{texts:?}");
    assert!(texts[1].starts_with("Remark open_url: offered as it comes"), "{texts:?}");
    assert!(texts[2].ends_with("no web tools: Edit"), "{texts:?}");
}

#[test]
fn a_switch_alone() {
    let mut judgement = Judgement::default();
    judgement.alone(&["WebFetch"], &declares(&["Bash", "WebSearch"]), "with --x alone");
    assert_eq!(judgement, Judgement::default());
    judgement.alone(&["WebFetch"], &declares(&["Bash", "WebFetch"]), "with --x alone");
    assert_eq!(texts(&judgement), ["Failure WebFetch: with --x alone: still offered (declared)"]);
    let mut silent = Judgement::default();
    silent.alone(&["WebFetch"], &Offer::default(), "with --x alone");
    assert_eq!(silent.weight(), Weight::Unknown);
}

/// G14: nothing seen proves nothing where nothing is ever seen.
#[test]
fn without_a_control_nothing_is_proved() {
    let judgement = judge(&ROW, &declares(&["Bash"]), &declares(&["Bash"]));
    assert_eq!(judgement.weight(), Weight::Unknown);
    assert!(texts(&judgement)[0].contains("proves nothing"), "{judgement:?}");
    // An agent without web tools needs no control.
    assert_eq!(judge(&[], &declares(&["bash"]), &declares(&["bash"])), Judgement::default());
}

/// A hiding place that nobody has met yet.
#[test]
fn a_name_in_an_unknown_place_is_no_clean_bill() {
    let hidden = |text: &str| {
        let more = json!({ "more": [text] });
        let body =
            json!({ "model": "m", "messages": [], "tools": [{ "name": "Bash" }], "capabilities": more });
        Offer::read(&Tape { requests: vec![asked("/v1/messages", body)], dropped: 0 }, "", &ROW)
    };
    let default = declares(&["Bash", "WebSearch", "WebFetch"]);
    for text in ["WebSearch", "use(WebSearch)", "a, WebSearch: b"] {
        let judgement = judge(&ROW, &default, &hidden(text));
        assert_eq!(judgement.weight(), Weight::Unknown, "{text}");
        assert!(texts(&judgement)[0].starts_with("Unknown WebSearch: named in a place"), "{judgement:?}");
        // Nor is it a control.
        assert_eq!(judge(&ROW, &hidden(text), &declares(&["Bash"])).weight(), Weight::Unknown);
    }
    for text in ["MyWebSearch", "WebSearch2", "web search", "WebSearch_tool"] {
        assert_eq!(judge(&ROW, &default, &hidden(text)).weight(), Weight::Remark, "{text}");
    }
    // A word of any text tells nothing.
    let body = json!({ "model": "m", "messages": ["a browser"], "tools": [{ "name": "bash" }] });
    let tape = Tape { requests: vec![asked("/v1/messages", body)], dropped: 0 };
    assert_eq!(web(&Offer::read(&tape, "", &["browser"])), [] as [&str; 0]);
}

/// aider has no tools, and fetches what the prompt names.
#[test]
fn a_cli_without_tools_that_fetches() {
    let row = ["URL detection"];
    let toolless = || one("/v1/chat/completions", json!({ "model": "m", "messages": [] }));
    let mut fetching = toolless();
    fetching.fetched("example.com");
    assert_eq!(judge(&row, &fetching, &toolless()), Judgement::default());
    assert_eq!(judge(&row, &fetching, &fetching).weight(), Weight::Failure);
    assert_eq!(judge(&row, &toolless(), &toolless()).weight(), Weight::Unknown);
}
