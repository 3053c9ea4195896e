use super::*;

fn refused(ask: Ask<'_>) -> String {
    Table::embedded().unwrap().choose(&ask).unwrap_err().to_string()
}

fn ask(agent: &str) -> Ask<'_> {
    Ask { agent, ..Ask::default() }
}

/// G15: what the table does not name is refused, with the reason and what would be accepted.
#[test]
fn the_table_never_guesses() {
    for (ask, expected) in [
        (
            ask("claude"),
            "the agent table has no agent \"claude\" (did you mean claude-code?); agents that can be run: aider, claude-code, ",
        ),
        (ask("Claude-Code"), "the agent table has no agent \"Claude-Code\" (did you mean claude-code?)"),
        (ask(""), "the agent table has no agent \"\"; "),
        (ask("claude-code "), "the agent table has no agent \"claude-code \" (did you mean claude-code?)"),
        (ask("devin"), "devin can't be run closed book: the agent runs on machines of its vendor"),
        (
            ask("opencode"),
            "opencode can use several providers, and hosts depend on which: name one of anthropic, openai, opencode-go, xai",
        ),
        (
            Ask { version: Some("2.1.332"), ..ask("claude-code") },
            "the agent table knows claude-code 2.1.295, not 2.1.332: another version may have other tools",
        ),
        (Ask { version: Some("latest"), ..ask("codex") }, "the agent table knows codex 0.162.0, not latest"),
        (
            Ask { version: Some("2.1.29"), ..ask("claude-code") },
            "the agent table knows claude-code 2.1.295, not 2.1.29:",
        ),
        (
            Ask { provider: Some("openai"), ..ask("claude-code") },
            "claude-code with login api can't use the provider \"openai\"; it can use: anthropic",
        ),
        (
            Ask { provider: Some("anthropc"), ..ask("claude-code") },
            "claude-code with login api can't use the provider \"anthropc\" (did you mean anthropic?)",
        ),
        (
            Ask { auth: Some(AuthMode::Subscription), ..ask("grok-build") },
            "grok-build has no login subscription; it has: api",
        ),
    ] {
        let found = refused(ask);
        assert!(found.starts_with(expected), "{found}");
    }
    let table = Table::embedded().unwrap();
    let judge =
        table.choose(&ask("codex")).unwrap().document(Judge::Provider("nobody")).unwrap_err().to_string();
    assert!(
        judge.starts_with("the agent table has no provider \"nobody\" for the judge; it has: anthropic, "),
        "{judge}"
    );
}

/// Each login has the hosts of its own, and the agent phase none that only installing needs.
#[test]
fn a_policy_has_the_hosts_of_its_login_and_no_others() {
    let table = Table::embedded().unwrap();
    let hosts = |ask: Ask<'_>, phase: &str| -> Vec<String> {
        let policy = table.choose(&ask).unwrap().policy(Judge::Provider("openai")).unwrap().unwrap();
        policy.phase(phase).unwrap().entries().iter().map(|entry| entry.as_str().to_owned()).collect()
    };
    let subscription = Ask { auth: Some(AuthMode::Subscription), ..ask("codex") };
    assert_eq!(hosts(ask("codex"), "agent"), ["api.openai.com"]);
    assert_eq!(hosts(subscription, "agent"), ["auth.openai.com", "chatgpt.com"]);
    assert_eq!(hosts(subscription, "verifier"), ["api.openai.com"]);
    let opencode = Ask { provider: Some("opencode-go"), ..ask("opencode") };
    assert_eq!(hosts(opencode, "agent"), ["opencode.ai"]);
    assert_eq!(
        hosts(opencode, "setup"),
        ["github.com", "nodejs.org", "opencode.ai", "raw.githubusercontent.com", "registry.npmjs.org"]
    );
}

/// A reader of the document learns what each host is for, and a conditional agent's condition.
#[test]
fn the_document_explains_itself() {
    let table = Table::embedded().unwrap();
    let text = table.choose(&ask("grok-build")).unwrap().document(Judge::Nobody).unwrap();
    for expected in [
        "# Grok Build 1.0.50, provider xai, login api. Agent table ",
        "# Only if: x_search is shown not to be offered",
        "# Check: closedbook agents probe grok-build",
        "    \"api.x.ai\", # xAI API\n",
        "    \"x.ai\", # the installer\n",
        "[phase.verifier]\nallow = []\n",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}
