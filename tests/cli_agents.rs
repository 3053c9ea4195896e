//! What `closedbook agents` prints, its exit codes, and `run --agent`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::live::{Live, private_folder};
use support::{Run, modes, open_folder};

struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Outcome {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

fn agents(args: &[&str]) -> Outcome {
    closedbook("agents", args)
}

fn closedbook(noun: &str, args: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_closedbook"))
        .arg(noun)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_list_has_every_agent_with_its_status() {
    let text = agents(&["list"]);
    assert_eq!(text.code, 0);
    let json = agents(&["list", "--json"]).json();
    let rows = json["table"]["agents"].as_object().unwrap();
    assert!(rows.len() >= 19, "{}", rows.len());
    for (name, row) in rows {
        assert!(text.stdout.contains(name), "{name}");
        let status = row["standing"]["status"].as_str().unwrap();
        assert!(["supported", "conditional", "refused"].contains(&status), "{name}: {status}");
        assert_eq!(agents(&["show", name]).code, 0, "{name}");
    }
    assert_eq!(json["digest"].as_str().unwrap().len(), 64);
}

/// The document is a policy as it stands, and the same one that --json describes.
#[test]
fn a_policy_is_ready_for_use() {
    let folder = open_folder();
    let file = folder.path().join("policy.toml");
    let printed = agents(&["policy", "opencode", "--provider", "opencode-go"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    fs::write(&file, &printed.stdout).unwrap();
    let digest = closedbook("policy", &["digest", file.to_str().unwrap()]).stdout.trim().to_owned();
    let json = agents(&["policy", "opencode", "--provider", "opencode-go", "--json"]).json();
    let policy = &json["policies"]["opencode"];
    assert_eq!(policy["digest"], digest.as_str());
    assert_eq!(policy["policy"]["phase"]["agent"]["allow"], serde_json::json!(["opencode.ai"]));
    assert_eq!(policy["version"], "1.18.35");
    assert!(printed.stderr.contains("not verified"), "{}", printed.stderr);
}

/// Several agents of one job get a policy each; nothing ever has the hosts of two.
#[test]
fn several_agents_never_share_a_policy() {
    let refused = agents(&["policy", "claude-code", "codex"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("--into FOLDER"), "{}", refused.stderr);
    let folder = open_folder();
    let into = folder.path().to_str().unwrap();
    let written = agents(&["policy", "claude-code", "codex", "--into", into]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    let of = |name: &str| fs::read_to_string(folder.path().join(format!("{name}.toml"))).unwrap();
    assert!(!of("claude-code").contains("openai.com") && of("codex").contains("\"api.openai.com\""));
    let again = agents(&["policy", "claude-code", "--into", into]);
    assert_eq!(again.code, 2, "an existing file was written over");
    let one_refused = agents(&["policy", "claude-code", "devin", "--json"]);
    assert_eq!((one_refused.code, one_refused.stdout.as_str()), (1, ""), "half of an answer");
}

/// A harness's job may have several agents; each gets its own policy, by its own model and login.
#[test]
fn a_job_has_a_policy_for_each_of_its_agents() {
    let folder = open_folder();
    let file = folder.path().join("job.yaml");
    let of = |agents: &str| {
        fs::write(&file, format!("# a job\nagents:\n{agents}")).unwrap();
        agents_of(&file)
    };
    let both = of(
        "  - {name: claude-code, model_name: anthropic/claude-opus-5}\n  - import_path: tdb_harbor_agents:Codex\n    model_name: openai/gpt-6\n    env: {CODEX_FORCE_AUTH_JSON: '1'}\n",
    );
    assert_eq!(both.code, 0, "{}", both.stderr);
    let policies = &both.json()["policies"];
    assert_eq!(
        policies["claude-code"]["policy"]["phase"]["agent"]["allow"],
        serde_json::json!(["api.anthropic.com"])
    );
    assert_eq!(
        policies["codex"]["policy"]["phase"]["agent"]["allow"],
        serde_json::json!(["auth.openai.com", "chatgpt.com"])
    );
    let two = of(
        "  - {name: opencode, model_name: xai/grok-5}\n  - {name: opencode, model_name: opencode-go/x/y}\n",
    );
    assert_eq!(
        two.json()["policies"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["opencode", "opencode-opencode-go"]
    );
    for (agents, code, expected) in [
        ("  - {name: devin, model_name: x/y}\n", 1, "agents[0]: devin can't be run closed book"),
        ("  - {name: codex}\n", 1, "agents[0]: it names no model"),
        ("  - {name: codex, model_name: gpt-6}\n", 1, "write PROVIDER/MODEL"),
        ("  - {name: codex, model_name: anthropic/claude}\n", 1, "it can use: openai"),
        (
            "  - {name: codex, model_name: openai/gpt-6, kwargs: {version: 0.171.0}}\n",
            1,
            "knows codex 0.162.0, not 0.171.0",
        ),
        (
            "  - {import_path: 'mine:Codex', model_name: openai/gpt-6}\n",
            1,
            "agents[0]: the agent table has no agent \"mine:Codex\"",
        ),
        (
            "  - {name: other, import_path: 'tdb_harbor_agents:Codex', model_name: openai/gpt-6}\n",
            1,
            "no agent \"other\"",
        ),
        ("  - 7\n", 2, "agents[0] needs a `name`"),
        ("  - [\n", 2, "no YAML"),
    ] {
        let outcome = of(agents);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{agents}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{agents}: {}", outcome.stderr);
    }
}

fn agents_of(file: &Path) -> Outcome {
    agents(&["policy", "--job", file.to_str().unwrap(), "--json"])
}

/// G15: refused with the reason and what would be accepted.
#[test]
fn what_the_table_does_not_name_is_refused() {
    for (args, expected) in [
        (vec!["policy", "claude"], "did you mean claude-code?"),
        (vec!["show", "clod-code"], "the agent table has no agent \"clod-code\""),
        (vec!["policy", "amp"], "amp can't be run closed book: "),
        (vec!["policy", "opencode"], "name one of anthropic, openai, opencode-go, xai"),
        (vec!["policy", "codex", "--provider", "anthropic"], "it can use: openai"),
        (vec!["policy", "opencode", "--provider", "xai", "--auth", "subscription"], "it has: api"),
        (vec!["policy", "codex", "--agent-version", "0.171.0"], "knows codex 0.162.0, not 0.171.0"),
        (vec!["policy", "codex", "--judge", "me"], "no provider \"me\" for the judge"),
        (vec!["check", "codex", "--agent-version", "0.162"], "the agent table knows codex 0.162.0"),
        (vec!["diff", "1", "99"], "there is no table of version 99"),
    ] {
        let outcome = agents(&args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{args:?}");
        assert!(outcome.stderr.contains(expected), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn another_table_can_be_used_and_its_faults_are_named() {
    let folder = open_folder();
    let file = folder.path().join("table.toml");
    let path = file.to_str().unwrap();
    let table = include_str!("../agents/history/1.toml").replace("version = 1\n", "version = 7\n");
    fs::write(&file, table.replace("\"x.ai\"", "\"install.x.ai\"")).unwrap();
    assert!(agents(&["policy", "grok-build", "--table", path]).stdout.contains("\"install.x.ai\""));
    let diff = agents(&["diff", "1", path, "--strict"]);
    assert_eq!(diff.code, 1);
    assert!(diff.stdout.contains("newly allowed: `install.x.ai` (setup: xai api)"), "{}", diff.stdout);
    assert_eq!(agents(&["diff", path, path, "--strict"]).code, 0);
    for (content, expected) in [
        (
            table.replace("schema = 1", "schema = 1\nshcema = 2").into_bytes(),
            "line 3, column 1: unknown field `shcema`",
        ),
        (b"\xff\xfe".to_vec(), "not UTF-8 text: byte 0"),
        (Vec::new(), "missing field"),
    ] {
        fs::write(&file, content).unwrap();
        let outcome = agents(&["list", "--table", path]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
        assert!(outcome.stderr.contains(path) && outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
    assert_eq!(agents(&["list", "--table", "/nonexistent/table.toml"]).code, 2);
}

fn fake(folder: &Path, name: &str, script: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// G15: a program that does not say the pinned version, whole, is not the one that the table speaks of.
#[test]
fn a_program_is_asked_for_its_version() {
    modes();
    let folder = open_folder();
    for (script, code, expected) in [
        ("echo '2.1.295 (Claude Code)'", 0, "matches"),
        ("echo 2.1.295 >&2", 0, "matches"),
        ("echo '2.1.2950 (Claude Code)'", 1, "says 2.1.2950"),
        ("echo 2.1.332", 1, "says 2.1.332"),
        ("echo 2.1.295; exit 3", 1, "does not say a version, but: 2.1.295"),
        ("echo hello", 1, "does not say a version, but: hello"),
        ("exit 127", 1, "is not installed here"),
        ("yes 1.0.0 | head -c 10000000", 1, "1.0.0"),
        ("printf '2.1.2\\033[2J95'", 1, "does not say a version, but: 2.1.2\\u{1b}[2J95"),
        // It calls home, and is not heard.
        ("curl -s --max-time 5 https://api.anthropic.com/ && echo 9.9.9; echo 2.1.295", 0, "matches"),
    ] {
        let program = fake(folder.path(), "claude", script);
        let outcome = agents(&["check", "claude-code", "--program", &program]);
        let said = outcome.stdout + &outcome.stderr;
        assert_eq!(outcome.code, code, "{script}: {said}");
        assert!(said.contains(expected), "{script}: {said}");
    }
}

#[test]
fn the_labels_of_an_image_are_checked() {
    let folder = open_folder();
    let file = folder.path().join("inspect.json");
    let check = |labels: &str| {
        fs::write(&file, format!("[{{\"Config\":{{\"Labels\":{labels}}}}}]")).unwrap();
        agents(&["check", "codex", "--inspect", file.to_str().unwrap()])
    };
    let right = r#"{"org.trialdesignbench.codex-version":"0.162.0","org.trialdesignbench.version":"1.7.0"}"#;
    assert_eq!(check(right).code, 0);
    for wrong in
        [right.replace("0.162.0", "0.162.1"), right.replace("1.7.0", "1.6.0"), "{}".into(), "null".into()]
    {
        let outcome = check(&wrong);
        assert_eq!(outcome.code, 1, "{wrong}");
        assert!(outcome.stderr.contains("org.trialdesignbench."), "{}", outcome.stderr);
    }
    fs::write(&file, "no inspect").unwrap();
    assert_eq!(agents(&["check", "codex", "--inspect", file.to_str().unwrap()]).code, 2);
}

/// `run --agent` permits the agent's hosts in the phase that it is in, and nothing else.
#[test]
fn a_run_takes_its_policy_from_the_table() {
    for &mode in modes() {
        let visit = "for host in api.openai.com registry.npmjs.org chatgpt.com; do \
            curl -s -o /dev/null --max-time 10 https://$host/ && echo $host; done; true";
        let outcome = Run::in_lab(mode).flag("--agent").flag("codex").script(visit);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "api.openai.com\n"), "{}", outcome.stderr);
        let run = Run::in_lab(mode).flag("--agent=opencode").flag("--provider=openai").flag("--phase=setup");
        let outcome = run.script(visit);
        assert_eq!(outcome.stdout, "api.openai.com\nregistry.npmjs.org\n", "{}", outcome.stderr);
        let run =
            Run::in_lab(mode).flag("--agent=codex").flag("--auth=subscription").flag("--allow=example.com");
        let outcome = run.script(visit);
        assert_eq!(outcome.stdout, "chatgpt.com\n", "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("not verified: auth.openai.com is the expected host"),
            "{}",
            outcome.stderr
        );
    }
}

/// G15, G6: what the table refuses starts nothing.
#[test]
fn a_refused_agent_starts_nothing() {
    for &mode in modes() {
        for (flags, expected) in [
            (vec!["--agent", "devin"], "devin can't be run closed book"),
            (vec!["--agent", "claude"], "did you mean claude-code?"),
            (vec!["--agent", "opencode"], "name one of"),
            (vec!["--agent", "codex", "--agent-version", "0.163.0"], "knows codex 0.162.0"),
            (vec!["--agent", "codex", "--phase", "agnet"], "the policy of codex has no phase \"agnet\""),
            (vec!["--agent", "codex", "--agent", "opencode"], "cannot be used multiple times"),
            (vec!["--provider", "openai"], "--agent <NAME>"),
            (vec!["--agent", "codex", "--policy", "x.toml"], "cannot be used with"),
        ] {
            let run = flags.iter().fold(Run::in_lab(mode), |run, flag| run.flag(flag));
            let outcome = run.script("echo started");
            assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{flags:?}: {}", outcome.stderr);
            assert!(outcome.stderr.contains(expected), "{flags:?}: {}", outcome.stderr);
        }
    }
}

/// G18: the status of a run names the table that its policy came from.
#[test]
fn the_status_names_the_table() {
    let mode = modes()[0];
    for (flags, table) in [(["--agent", "codex"], Some(2)), (["--allow", "api.openai.com"], None)] {
        let runtime = private_folder(mode);
        let run = flags.iter().fold(Run::in_lab(mode), |run, flag| run.flag(flag));
        let mut live = Live::start(run, mode, &runtime, &["sh", "-c", "echo ready; read end"]);
        assert_eq!(live.hear(), "ready");
        let status: Value = serde_json::from_slice(&live.ask(&["status", "--json"]).stdout).unwrap();
        assert_eq!(status["table"].as_u64(), table, "{status}");
        let text = String::from_utf8(live.ask(&["status"]).stdout).unwrap();
        assert_eq!(text.contains(", agent table 2\n"), table.is_some(), "{text}");
        live.say("end");
        assert_eq!(live.end().code, 0);
    }
}

/// Whatever the table names can be tried in the lab.
#[test]
fn the_lab_has_every_host_of_the_table() {
    let table = closedbook_agents::Table::embedded().unwrap();
    let usable = || table.rows().filter_map(closedbook_agents::Row::usable);
    let needed =
        usable().flat_map(|usable| usable.setup.iter().chain(&usable.optional)).map(|needed| &needed.host);
    let logins =
        usable().flat_map(|usable| usable.auth.values()).filter_map(|login| login.hosts.as_ref()).flatten();
    let apis = table.providers().flat_map(|provider| &provider.hosts);
    let world = closedbook_lab::World::new();
    let known: Vec<String> = world.hosts().iter().map(|host| host.name.as_str().to_owned()).collect();
    let mut missing: Vec<&str> = needed.chain(logins).chain(apis).map(|host| host.as_str()).collect();
    missing.retain(|host| !known.iter().any(|name| name == host));
    assert_eq!(missing, [""; 0]);
}

/// G15: the audit of a log takes the row for its measure, and nothing that the table refuses.
#[test]
fn a_log_is_measured_against_a_row() {
    let mode = modes()[0];
    let log = open_folder();
    let file = log.path().join("e.jsonl");
    let run = Run::in_lab(mode).log_to(&file).flag("--agent=codex");
    run.script(
        "curl -s -o /dev/null https://api.openai.com/; curl -s -o /dev/null https://chatgpt.com/; true",
    );
    let path = file.to_str().unwrap();
    let audit = |args: &[&str]| closedbook("audit", &[&["log", path], args].concat());
    let same = audit(&["--agent", "codex"]);
    assert_eq!(same.code, 0, "{}", same.stdout);
    assert!(same.stdout.contains("refused as intended: chatgpt.com"), "{}", same.stdout);
    let other = audit(&["--agent", "claude-code"]);
    assert_eq!(other.code, 1);
    assert!(other.stdout.contains("permitted, and not in the list: api.openai.com"), "{}", other.stdout);
    for (args, expected) in [
        (&["--agent", "devin"][..], "devin can't be run closed book"),
        (&["--agent", "codex", "--policy", path], "cannot be used with"),
        (&["--propose"], "--agent <NAME>"),
    ] {
        let outcome = audit(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{args:?}");
        assert!(outcome.stderr.contains(expected), "{args:?}: {}", outcome.stderr);
    }
}
