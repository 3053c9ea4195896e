use super::*;

#[test]
fn web_tools_by_all_their_names() {
    for name in [
        "WebSearch",
        "WebFetch",
        "webfetch",
        "web_search",
        "google_web_search",
        "FetchURL",
        "SearchWeb",
        "x_search",
        "read_web_page",
        "web__run",
        "mcp__tavily__search",
        "mcp__fetch__fetch",
        "browser_navigate",
        "brave-search",
        "playwright_goto",
        "tavily_search",
        "web_search_call",
        "mcp__leaky__web_search",
        "functions.web__run",
    ] {
        assert!(matches!(classify(name), Class::Web(_)), "{name}: {:?}", classify(name));
    }
    assert_eq!(classify("github-mcp-server-search_code"), Class::Forge);
    assert_eq!(classify("WebSearch"), Class::Web(Runs::Provider));
}

#[test]
fn other_tools_are_none() {
    for (name, class) in [
        ("Bash", Class::Shell),
        ("run_shell_command", Class::Shell),
        ("exec_command", Class::Shell),
        ("bash_command", Class::Shell),
        ("run_terminal_command", Class::Shell),
        ("write_stdin", Class::Shell),
        ("Read", Class::Local),
        ("TodoWrite", Class::Local),
        ("ToolSearch", Class::Local),
        ("Write", Class::Write),
        ("apply_patch", Class::Write),
        ("mcp__memory__store", Class::Mcp),
        ("execute_python", Class::Code),
        ("frobnicate", Class::Unknown),
        ("tool_call", Class::Relay),
    ] {
        assert_eq!(classify(name), class, "{name}");
    }
}
