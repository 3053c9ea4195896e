use super::*;
use crate::History;

fn table(edit: impl Fn(&str) -> String) -> Table {
    Table::from_toml(&edit(include_str!("../../history/1.toml"))).unwrap_or_else(|fault| panic!("{fault}"))
}

fn same() -> Table {
    table(str::to_owned)
}

#[test]
fn layout_and_comments_are_no_change() {
    let other = table(|text| text.replace("[providers]", "# a comment\n\n[providers]"));
    assert_eq!(same().digest(), other.digest());
    let diff = Diff::between(&same(), &other);
    assert!(diff.agents.is_empty() && !diff.widens());
    assert!(diff.to_string().contains("Nothing that a policy or a check depends on."));
}

/// What a newer table newly allows is named, host by host and phase by phase.
#[test]
fn a_new_host_is_a_widening_and_a_host_less_is_none() {
    let more = table(|text| {
        text.replace(
            r#"{ host = "x.ai", for = "the installer" }"#,
            r#"{ host = "x.ai", for = "the installer" }, { host = "cdn.x.ai", for = "the installer" }"#,
        )
    });
    let diff = Diff::between(&same(), &more);
    let change = diff.agents.get("grok-build").unwrap();
    let host =
        HostChange { provider: "xai".into(), auth: AuthMode::Api, phase: "setup", host: "cdn.x.ai".into() };
    assert_eq!((change.allows.as_slice(), change.allows_no_more.as_slice()), (&[host][..], &[][..]));
    assert!(diff.widens());
    assert!(diff.to_string().contains("- newly allowed: `cdn.x.ai` (setup: xai api)"), "{diff}");
    let back = Diff::between(&more, &same());
    assert!(!back.widens());
    assert!(back.to_string().contains("- allowed no more: `cdn.x.ai` (setup: xai api)"), "{back}");
}

/// A provider's new host reaches every agent that uses it, in every phase.
#[test]
fn a_providers_host_is_seen_in_every_agent() {
    let more = table(|text| text.replace(r#"hosts = ["api.x.ai"]"#, r#"hosts = ["api.x.ai", "eu.x.ai"]"#));
    let diff = Diff::between(&same(), &more);
    assert_eq!(diff.agents.keys().collect::<Vec<_>>(), ["grok-build", "opencode"]);
    assert!(diff.agents.values().all(|change| change.allows.len() == 2));
    let judge = table(|text| text.replace(r#"judge = "anthropic""#, r#"judge = "openai""#));
    let diff = Diff::between(&same(), &judge);
    assert!(diff.agents.values().flat_map(|change| &change.allows).all(|host| host.phase == "verifier"));
    assert_eq!(diff.agents.len(), 4);
}

#[test]
fn status_version_tools_and_the_rest_are_told() {
    let other = table(|text| {
        text.replace("\"0.162.0\"", "\"0.171.0\"")
            .replace("web_search=disabled", "web_search=\\\"disabled\\\"")
            .replace("Codex CLI", "Codex")
    });
    let change = Diff::between(&same(), &other).agents.remove("codex").unwrap();
    assert_eq!(change.version, Some(("0.162.0".into(), "0.171.0".into())));
    assert_eq!(change.tools, ["changed: web_search"]);
    assert_eq!(change.other, ["labels", "title"]);
    let history = History::embedded().unwrap();
    let diff = Diff::between(history.version(1).unwrap(), history.version(2).unwrap());
    assert_eq!(diff.agents["grok-build"].status, Some(("supported".into(), "conditional".into())));
    assert_eq!(diff.agents["aider"].status, Some(("absent".into(), "conditional".into())));
    assert!(diff.agents["claude-code"].allows.is_empty());
}

#[test]
fn the_changelog_is_that_of_the_tables() {
    let history = History::embedded().unwrap();
    let written = include_str!("../../CHANGELOG.md");
    assert!(
        history.changelog() == written,
        "agents/CHANGELOG.md is old: closedbook agents diff --changelog prints it"
    );
}
