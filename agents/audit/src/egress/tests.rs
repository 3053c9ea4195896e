use closedbook_policy::Policy;

use super::*;

const DIGEST: &str = "00";

/// A record as closedbook writes it, with some fields changed.
fn record(id: u64, changes: &[(&str, serde_json::Value)]) -> String {
    let mut record = serde_json::json!({
        "ts": format!("2026-01-02T03:04:{:02}.000Z", id % 60), "id": id, "phase": "agent", "epoch": 1,
        "policy": DIGEST.repeat(32), "kind": "tls", "name": "api.example.com", "port": 443,
        "original": "198.18.0.1:443", "dialled": "192.0.2.1:443", "verdict": "allow", "reason": null,
        "rule": "api.example.com", "bytes_up": 1, "bytes_down": 2, "ms": 3, "detail": null,
    });
    for (key, value) in changes {
        record[*key] = value.clone();
    }
    record.to_string()
}

fn read(lines: &[String]) -> Log {
    let mut log = Log::default();
    for (number, line) in (1..).zip(lines) {
        log.line("log", number, line.as_bytes());
    }
    log
}

fn allowed(allow: &str) -> (Allowed, String) {
    let source = format!("schema = 1\n\n[phase.agent]\nallow = {allow}\n");
    let policy = Policy::from_text(&source).unwrap();
    (Allowed { digest: None, ..Allowed::of_policy("p.toml", &policy) }, source)
}

fn proposed(allow: &str, lines: &[String]) -> String {
    let (allowed, source) = allowed(allow);
    let report = read(lines).end(Some(&allowed));
    proposal("p.toml", &source, &lists(&source).unwrap(), &report)
}

/// G16: whatever stands in a line, it is a record or it is named with its place.
#[test]
fn malformed_lines_are_told_and_the_rest_is_read() {
    let bad = [
        "x".to_owned(),
        "{}".into(),
        "[]".into(),
        record(1, &[("id", 0.into())]),
        record(1, &[("id", (-1).into())]),
        record(1, &[("ts", "yesterday".into())]),
        record(1, &[("ts", "2026-01-02 03:04:05Z".into())]),
        record(1, &[("policy", "abc".into())]),
        record(1, &[("kind", "quic".into())]),
        record(1, &[("verdict", "maybe".into())]),
        record(1, &[("reason", "packet".into())]),
        record(1, &[("verdict", "deny".into())]),
        record(1, &[("verdict", "deny".into()), ("reason", "because".into())]),
        record(1, &[("event", "flow.shut".into())]),
        record(1, &[("port", 70_000.into())]),
        record(1, &[("name", serde_json::json!(["a"]))]),
        record(2, &[]).replace("\"name\":\"api.example.com\",", ""),
        record(2, &[]).get(..90).unwrap().to_owned(),
    ];
    let mut lines = bad.to_vec();
    lines.push(record(1, &[]));
    let report = read(&lines).end(None);
    assert_eq!((report.records, report.outcome), (1, Outcome::Malformed));
    assert_eq!(report.malformed.len(), bad.len());
    for (number, malformed) in (1..).zip(&report.malformed) {
        assert_eq!(malformed.place.unwrap().line, number, "{malformed}");
    }
    let mut log = Log::default();
    log.line("log", 1, b"\xff{");
    log.line("log", 2, b"\r");
    (3..100).for_each(|number| log.line("log", number, b"?"));
    let report = log.end(None);
    assert_eq!((report.malformed.len(), report.more_malformed), (20, 78));
}

/// A log without a record proves nothing.
#[test]
fn an_empty_log_is_no_clean_bill() {
    assert_eq!(read(&[]).end(None).outcome, Outcome::Empty);
    assert_eq!(read(&[String::new()]).end(None).outcome, Outcome::Empty);
}

/// G16: hosts, phases, policies and ports without number are counted, and not kept.
#[test]
fn the_sums_are_bounded() {
    let mut log = Log::default();
    for id in 1..=30_000u64 {
        let name = format!("n{id}.example.com");
        let line = record(id, &[("name", name.into())]);
        log.line("log", id, line.as_bytes());
    }
    for id in 30_001..=31_000u64 {
        let (phase, policy) = (format!("p{id}"), format!("{id:064x}"));
        log.line("log", id, record(id, &[("phase", phase.into()), ("policy", policy.into())]).as_bytes());
    }
    let report = log.end(Some(&allowed("[\"*.example.com\"]").0));
    let agent = report.phases.iter().find(|phase| phase.name == "agent").unwrap();
    assert_eq!((agent.used.len(), agent.more, agent.records), (10_000, 20_000, 30_000));
    assert!(agent.wildcards[0].exact.is_empty() && agent.unused.is_empty());
    assert_eq!((report.phases.len(), report.policies.len()), (256, 256));
    assert!(report.findings.iter().any(|finding| finding.id == "more-than-told"));
    assert_eq!(report.outcome, Outcome::Found);
}

/// What a row does without is listed apart when it is refused.
#[test]
fn optional_hosts_are_refused_as_intended() {
    let (mut allowed, _) = allowed("[\"api.example.com\"]");
    let entry = closedbook_policy::Entry::parse("telemetry.example.com").unwrap();
    allowed.optional.push(Entry { entry, origin: "row x, optional".into() });
    let refused = |id, name: &str| {
        record(
            id,
            &[
                ("verdict", "deny".into()),
                ("reason", "dns-name".into()),
                ("name", name.into()),
                ("kind", "dns".into()),
                ("rule", ().into()),
            ],
        )
    };
    let report =
        read(&[refused(1, "telemetry.example.com"), refused(2, "x.example.com")]).end(Some(&allowed));
    let names = |hosts: &[Host]| hosts.iter().map(|host| host.host.clone()).collect::<Vec<_>>();
    assert_eq!(names(&report.phases[0].intended), ["telemetry.example.com"]);
    assert_eq!(names(&report.phases[0].refused), ["x.example.com"]);
}

#[test]
fn proposals() {
    let used = [record(1, &[])];
    let wide =
        [record(1, &[("name", "a.example.org".into())]), record(2, &[("name", "b.example.org".into())])];
    // Nothing to say, nothing changed.
    assert_eq!(proposed("[\"api.example.com\"]", &used), "");
    // A phase that the log has nothing of is left alone.
    assert_eq!(proposed("[\"other.example\"]", &[record(1, &[("phase", "setup".into())])]), "");
    for (allow, lines, expected) in [
        (
            "[\"api.example.com\", \"x.example\"]",
            &used[..],
            "-allow = [\"api.example.com\", \"x.example\"]\n+allow = [\"api.example.com\"]\n",
        ),
        (
            "[\"x.example\", 'api.example.com']",
            &used,
            "-allow = [\"x.example\", 'api.example.com']\n+allow = ['api.example.com']\n",
        ),
        ("[\"x.example\"]", &used, "-allow = [\"x.example\"]\n+allow = []\n"),
        (
            "[\n  \"api.example.com\", # model\n  # old\n  \"x.example\" # gone\n]",
            &used,
            "-  \"api.example.com\", # model\n+  \"api.example.com\" # model\n",
        ),
        (
            "[\n  \"api.example.com\",\n  \"x.example\", \"y.example\",\n]",
            &used,
            "-  \"x.example\", \"y.example\",\n",
        ),
        ("[\"*.example.org:443\"]", &wide, "+allow = [\"a.example.org:443\", \"b.example.org:443\"]\n"),
        (
            "[\"*.example.org\", \"a.example.org\"]",
            &wide,
            "+allow = [\"b.example.org\", \"a.example.org\"]\n",
        ),
    ] {
        let diff = proposed(allow, lines);
        assert!(diff.starts_with("--- a/p.toml\n+++ b/p.toml\n@@ -"), "{allow}: {diff}");
        assert!(diff.contains(expected), "{allow}\n{diff}");
    }
    let source =
        "{\"schema\": 1, \"phase\": {\"agent\": {\"allow\": [\n\"api.example.com\",\n\"x.example\"\n]}}}";
    let policy = Policy::from_text(source).unwrap();
    let report = read(&used).end(Some(&Allowed::of_policy("p", &policy)));
    let diff = proposal("p.json", source, &lists(source).unwrap(), &report);
    assert!(diff.contains("-\"api.example.com\",\n-\"x.example\"\n+\"api.example.com\"\n"), "{diff}");
}

/// A host that was refused is never proposed.
#[test]
fn refused_hosts_are_not_added() {
    let refused = record(
        2,
        &[("verdict", "deny".into()), ("reason", "name-not-allowed".into()), ("name", "evil.example".into())],
    );
    assert!(!proposed("[\"api.example.com\", \"x.example\"]", &[record(1, &[]), refused]).contains("evil"));
}

/// A row of the agent table is measured against like a policy, with its optional hosts apart, and its proposal is over the
/// table's own text.
#[test]
fn a_row_of_the_table() {
    let table = closedbook_agents::Table::embedded().unwrap();
    let ask = closedbook_agents::Ask { agent: "opencode", provider: Some("openai"), ..Default::default() };
    let choice = table.choose(&ask).unwrap();
    let allowed = Allowed::of_choice(&choice, closedbook_agents::Judge::Nobody).unwrap();
    let in_setup = |id: u64, name: &str| record(id, &[("phase", "setup".into()), ("name", name.into())]);
    let lines = [
        in_setup(1, "api.openai.com"),
        in_setup(2, "registry.npmjs.org"),
        in_setup(3, "files.example"),
        record(
            4,
            &[
                ("verdict", "deny".into()),
                ("reason", "dns-name".into()),
                ("name", "models.opencode.ai".into()),
            ],
        ),
    ];
    let report = read(&lines).end(Some(&allowed));
    assert_eq!(report.against.as_deref(), Some("row opencode"));
    let of = |id: &str| {
        report.findings.iter().find(|finding| finding.id == id).map(|finding| finding.what.clone())
    };
    assert!(of("used-unlisted").unwrap().contains("files.example"), "{:?}", report.findings);
    assert!(of("refused-as-intended").unwrap().contains("models.opencode.ai"));
    assert!(of("refused").is_none());

    let source = closedbook_agents::Table::EMBEDDED;
    let diff = proposal("table.toml", source, &lists_of_row(source, "opencode").unwrap(), &report);
    let changed: Vec<&str> = diff.lines().filter(|line| line.starts_with(['-', '+'])).skip(2).collect();
    let hosts = ["raw.githubusercontent.com", "github.com", "nodejs.org"];
    assert_eq!(changed.len(), hosts.len(), "{diff}");
    assert!(
        changed.iter().zip(hosts).all(|(line, host)| line.starts_with('-') && line.contains(host)),
        "{diff}"
    );
    assert_eq!(lists_of_row(source, "no-such-agent").unwrap(), []);
    assert!(lists_of_row("[", "opencode").is_err());
}
