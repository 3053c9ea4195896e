use super::*;
use crate::config::{MemoryFiles, Report, State, audit};

const JOB: &str = r#"
agents:
  - import_path: tdb_harbor_agents:ClaudeCode
    model_name: anthropic/claude-opus
    kwargs:
      version: 2.1.295
      disallowed_tools: "WebSearch,WebFetch"
      config: {permissions: {deny: [WebSearch, WebFetch]}}
      color: blue
    env: {DISABLE_TELEMETRY: "1"}
  - name: copilot-cli
    kwargs: {disable_web_search: true, version: 1.0.102}
  - name: gemini-cli
    model_name: google/gemini
    kwargs: {disable_web_search: "true", version: 0.61.0}
  - name: qwen-coder
    kwargs: {version: 0.24.4, config: settings.json}
  - name: terminus-2
"#;

/// An agent of the job, audited over these files.
fn report(agent: &JobAgent, files: &MemoryFiles) -> Report {
    let overlay = Overlay::new(files, &agent.written, "/root");
    let launch = Launch {
        argv: None,
        env: BTreeMap::new(),
        env_is_whole: true,
        home: "/root".into(),
        workdir: "/app".into(),
        uid: None,
        version: None,
        files,
    };
    audit(agent.agent.as_deref().unwrap(), &agent.launch(launch, &overlay)).unwrap()
}

fn states(report: &Report) -> Vec<State> {
    report.tools.iter().map(|tool| tool.state).collect()
}

#[test]
fn a_job_is_read_as_harbor_would_start_it() {
    let agents = read("job.yaml", JOB.as_bytes()).unwrap();
    let rows: Vec<_> = agents.iter().map(|agent| agent.agent.as_deref()).collect();
    assert_eq!(rows, [Some("claude-code"), Some("copilot-cli"), Some("gemini-cli"), Some("qwen-code"), None]);

    let claude = report(&agents[0], &MemoryFiles::default());
    assert_eq!(states(&claude), [State::Off, State::Off]);
    let first = &claude.tools[0].settings[0];
    assert_eq!(first.origin.to_string(), "job.yaml:7 (agents[0].kwargs.disallowed_tools)");
    assert!(agents[0].remarks.iter().any(|remark| remark.text.contains("kwargs.color")));

    // Harbor's flag for Copilot takes no tool away.
    assert_eq!(states(&report(&agents[1], &MemoryFiles::default())), [State::On, State::On]);
    assert_eq!(states(&report(&agents[2], &MemoryFiles::default())), [State::Off, State::Off]);
    assert_eq!(agents[4].argv, None);
}

/// G15: what is not known is not off.
#[test]
fn a_file_that_only_the_harness_has_is_unknown() {
    let agents = read("job.yaml", JOB.as_bytes()).unwrap();
    let qwen = report(&agents[3], &MemoryFiles::default());
    assert_eq!(qwen.tools[0].state, State::Unknown);
    assert_eq!(qwen.malformed.len(), 1);
}

/// Harbor's Claude Code has another settings folder, and what an image brings in `~/.claude` does not count.
#[test]
fn user_settings_of_the_image_do_not_count() {
    let job = "{\"agents\": [{\"name\": \"claude-code\", \"kwargs\": {\"version\": \"2.1.295\"}}]}";
    let agents = read("config.json", job.as_bytes()).unwrap();
    let settings = r#"{"permissions": {"deny": ["WebSearch", "WebFetch"]}}"#;
    let files = MemoryFiles::default().with("/root/.claude/settings.json", settings);
    assert_eq!(states(&report(&agents[0], &files)), [State::On, State::On]);
    let files = MemoryFiles::default().with("/app/.claude/settings.json", settings);
    assert_eq!(states(&report(&agents[0], &files)), [State::Off, State::Off]);
    // Skills are copied over.
    let files =
        files.with("/root/.claude/skills/s/SKILL.md", "---\nname: s\nallowed-tools: WebSearch\n---\n");
    assert_eq!(report(&agents[0], &files).brings.len(), 1);
}

/// What an image brings for Gemini CLI is overwritten.
#[test]
fn gemini_settings_of_the_image_are_gone() {
    let agents = read("job.yaml", b"agents: [{name: gemini-cli, kwargs: {version: 0.61.0}}]").unwrap();
    let settings = r#"{"tools": {"exclude": ["web_fetch", "google_web_search"]}}"#;
    let files = MemoryFiles::default().with("/root/.gemini/settings.json", settings);
    assert_eq!(states(&report(&agents[0], &files)), [State::On, State::On]);
}

#[test]
fn a_trial_is_read_too() {
    let trial = r#"{"config": {"agent": {"name": "claude-code"}}, "agent_info": {"name": "claude-code", "version": "2.1.295"}}"#;
    let agents = read("result.json", trial.as_bytes()).unwrap();
    assert_eq!(agents[0].field, "config.agent");
    assert_eq!(agents[0].version.as_deref(), Some("2.1.295"));
}

#[test]
fn servers_of_the_job_are_there() {
    let job = "agents:\n- name: claude-code\n  kwargs: {version: 2.1.295, disable_web_search: true}\n  mcp_servers:\n  - {name: web, transport: streamable-http, url: 'https://w.example'}\n";
    let agents = read("job.yaml", job.as_bytes()).unwrap();
    let report = report(&agents[0], &MemoryFiles::default());
    let brings: Vec<_> = report.brings.iter().map(|b| (b.name.as_str(), b.state)).collect();
    assert_eq!(brings, [("web", State::On)]);
}

#[test]
fn what_codex_is_given() {
    let job = "agents:\n- name: codex\n  model_name: openai/gpt\n  kwargs: {web_search: disabled, config: {model_reasoning_effort: low, tools: {x: [1, null, \"a\\\"b\"]}}}\n";
    let agents = read("job.yaml", job.as_bytes()).unwrap();
    let argv: Vec<&str> = agents[0].argv.as_ref().unwrap().iter().map(|(word, _)| word.as_str()).collect();
    assert!(argv.windows(2).any(|pair| pair == ["-c", "web_search=disabled"]), "{argv:?}");
    let Written::File(path, bytes) = &agents[0].written[0] else { panic!() };
    assert_eq!(path, "/installed-agent/codex-home/config.toml");
    let root = Format::Toml.read_bytes(bytes).unwrap();
    assert_eq!(root.get("web_search").and_then(Node::text), Some("disabled"));
    assert_eq!(root.at_path(&["tools", "x"]).unwrap().items()[1].text(), Some("a\"b"));
}

/// OpenCode reads its rules in their order, so the order that the job says stays.
#[test]
fn rules_stay_in_their_order() {
    let job = "agents:\n- name: opencode\n  kwargs: {opencode_config: {permission: {webfetch: deny, '*': allow}}}\n";
    let agents = read("job.yaml", job.as_bytes()).unwrap();
    let Written::File(_, bytes) = &agents[0].written[0] else { panic!() };
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.find("webfetch") < text.find('*'), "{text}");
}

/// G16: malformed input names its place.
#[test]
fn malformed_jobs_name_their_place() {
    for (path, text, expected) in [
        ("job.yaml", "agents: [", "job.yaml, line "),
        ("job.yaml", "n_attempts: 1", "job.yaml, line 1, column 1: there is no `agents` list"),
        ("job.yaml", "agents: []", "there is no `agents` list"),
        ("job.yaml", "agents:\n- kwargs: {}\n", "job.yaml, line 2, column "),
        ("config.json", "{,}", "config.json, line 1, column 2: no JSON"),
        ("job.yaml", "", "no YAML"),
    ] {
        let found = read(path, text.as_bytes()).unwrap_err().to_string();
        assert!(found.contains(expected), "{text:?}: {found}");
    }
}
