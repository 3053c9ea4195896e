//! G16: whatever stands in the files that an audit reads, it ends, without a panic, and soon.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use closedbook_audit::config::{Content, Files, Launch, Origin, Verdict, audit, names};

/// The same bytes at every path, and the same names in every folder: a tree without an end.
struct Everywhere {
    bytes: Vec<u8>,
    names: Vec<String>,
}

impl Files for Everywhere {
    fn read(&self, _path: &str) -> Content {
        Content::Bytes(self.bytes.clone())
    }

    fn list(&self, _folder: &str) -> Vec<String> {
        self.names.clone()
    }
}

fn launch<'a>(files: &'a dyn Files, argv: &[&str], env: &[(&str, &str)]) -> Launch<'a> {
    let argument = |(n, word): (usize, &&str)| ((*word).to_owned(), Origin::Argument { number: n + 1 });
    let variable = |(name, value): &(&str, &str)| {
        ((*name).to_owned(), ((*value).to_owned(), Origin::Variable { name: (*name).to_owned() }))
    };
    Launch {
        argv: Some(argv.iter().enumerate().map(argument).collect()),
        env: env.iter().map(variable).collect::<BTreeMap<_, _>>(),
        env_is_whole: true,
        home: "/root".into(),
        workdir: "/work/a/b".into(),
        uid: None,
        version: None,
        files,
    }
}

fn texts() -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = [
        "",
        "\u{feff}",
        "{",
        "[]",
        "null",
        "\"x\"",
        "1",
        "---\n---\n",
        "---\nname: x\ntools: [webfetch]\npermission: {webfetch: allow}\n---\n",
        "a: &a [*a, *a]\n",
        "a = [\n",
        "permission = \"deny\"\n[mcp_servers]\nx = 1\n[features]\napps = [1]\n",
        r#"{"permission": {"webfetch": {"*": {"*": {}}}}, "agent": {"": {"": null}}, "mcp": {"servers": {"servers": []}}, "tools": [1], "plugin": [[[]]], "provider": {"x": []}}"#,
        r#"{"mcpServers": {"": null, "x": {"url": 1, "command": []}}, "hooks": 1, "llm": []}"#,
        r#"{"extensions": [{"type": "builtin"}, 1, null], "agent": {"extend": "agent.yaml", "exclude_tools": [1], "subagents": {"x": {"path": "agent.yaml"}}}}"#,
        "agent:\n  extend: agent.yaml\n  subagents: {x: {path: ../../../../../../../x}}\n",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    texts.push(vec![0xff, 0xfe, 0x00]);
    texts.push(vec![0; 64]);
    texts.push("[".repeat(100_000).into_bytes());
    texts.push("a: ".repeat(10_000).into_bytes());
    texts.push("{\"a\":".repeat(50_000).into_bytes());
    texts.push("x".repeat((1 << 20) + 1).into_bytes());
    texts
}

fn arguments() -> Vec<Vec<&'static str>> {
    vec![
        vec![],
        vec!["--", "-c"],
        vec!["-c"],
        vec!["-c", "=", "-c", "a", "-c", "a.b.c=[", "--config", "web_search"],
        vec!["--agent-file", "agent.yaml", "--recipe", "../x", "--cd", "", "--dir", "/", "--cwd", "."],
        vec!["--disallowed-tools", ",,,", "-", "--=", "-=x", "--\u{202e}"],
    ]
}

#[test]
fn no_file_and_no_argument_makes_an_audit_panic() {
    let variables = [
        ("OPENCODE_PERMISSION", "{"),
        ("GROK_CONFIG", "["),
        ("OPENCODE_CONFIG_CONTENT", "{]"),
        ("AIDER_DETECT_URLS", "\0"),
    ];
    for bytes in texts() {
        let files = Everywhere { bytes: bytes.clone(), names: Vec::new() };
        for agent in names() {
            // Long texts cost time, and what arguments do to them is the same.
            let most = if bytes.len() > 1000 { 1 } else { usize::MAX };
            for argv in arguments().iter().take(most) {
                for env in [&variables[..], &[]].into_iter().take(most) {
                    let report = audit(agent, &launch(&files, argv, env)).unwrap();
                    if str::from_utf8(&bytes).is_err() {
                        assert_eq!(report.verdict(), Verdict::Malformed, "{agent} with {bytes:?}");
                    }
                }
            }
        }
    }
}

/// Links that lead in circles make a small tree endless.
#[test]
fn a_tree_without_an_end_ends_the_audit_and_is_no_clean_bill() {
    let names_in_folders = ["a.md", "b", "c", "d.json"].map(str::to_owned).to_vec();
    let files = Everywhere { bytes: b"---\nname: x\n---\n".to_vec(), names: names_in_folders };
    for agent in names() {
        let report = audit(agent, &launch(&files, &[], &[])).unwrap();
        if agent == "opencode" {
            let said =
                report.malformed.iter().any(|fault| fault.reason.contains("not everything was looked at"));
            assert!(said, "{:?}", report.malformed);
            assert_eq!(report.verdict(), Verdict::Malformed);
        }
    }
}
