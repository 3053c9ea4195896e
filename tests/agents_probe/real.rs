//! The real CLIs, where `.ci/clients` could fetch them. Each is probed as the table has it, and with its switches misspelt
//! as people misspell them: what a probe can't catch, it can't clear either.

use super::*;
use support::{clients, modes};

/// A CLI, and what is known of it.
struct Case {
    agent: &'static str,
    flags: &'static [&'static str],
    /// Flags of the probe that must pass, and not of that which must fail.
    more: &'static [&'static str],
    /// The web tools that it offers as it comes.
    web: &'static [&'static str],
    /// Switches that it passes over in silence, in the place of those of the table.
    misspelt: &'static [(&'static str, &'static str)],
}

#[test]
fn claude_code() {
    check(&Case {
        agent: "claude-code",
        flags: &[],
        more: &["--each"],
        web: &["WebFetch", "WebSearch"],
        misspelt: &[
            ("value = \"WebSearch,WebFetch\"", "value = \"websearch,webfetch\""),
            ("key = \"permissions.deny\"", "key = \"permission.deny\""),
        ],
    });
}

#[test]
fn codex() {
    check(&Case {
        agent: "codex",
        flags: &[],
        more: &[],
        web: &["web__run"],
        misspelt: &[("\"web_search=disabled\"", "\"tools.web_search=false\"")],
    });
}

/// The table's version is not to be had everywhere.
#[test]
fn opencode() {
    check(&Case {
        agent: "opencode",
        flags: &["--any-version"],
        more: &[],
        web: &["webfetch"],
        misspelt: &[
            ("key = \"permission.webfetch\"", "key = \"permission.WebFetch\""),
            (
                "'{\"webfetch\":\"deny\",\"websearch\":\"deny\"}'",
                "'{\"permission\":{\"webfetch\":\"deny\"}}'",
            ),
        ],
    });
}

#[test]
fn gemini_cli() {
    check(&Case {
        agent: "gemini-cli",
        flags: &[],
        more: &[],
        web: &["google_web_search", "web_fetch"],
        misspelt: &[("key = \"tools.exclude\"", "key = \"tools.excluded\"")],
    });
}

#[test]
fn qwen_code() {
    check(&Case {
        agent: "qwen-code",
        flags: &[],
        more: &[],
        web: &["web_fetch", "web_search"],
        misspelt: &[(
            "value = [\"web_fetch\", \"web_search\"]",
            "value = [\"web_fetch web_search\", \"WEB_SEARCH\"]",
        )],
    });
}

fn check(case: &Case) {
    // Who is not there is said.
    let Some(program) = clients::agent(case.agent) else { return };
    let program: Vec<&str> = program.iter().map(|path| path.to_str().unwrap()).collect();
    // The folder may be root's alone.
    let probe = || Probe::of(modes()[0], case.agent).flags(case.flags).program(&program);

    let probed = probe().flags(case.more).run().must_be(0, "pass");
    assert_eq!(probed.web(0), case.web, "{probed:?}");
    assert_eq!(probed.web(1), [] as [&str; 0], "{probed:?}");
    // Every host that it asks for is one that the row knows.
    for start in 0..2 {
        for host in probed.json()["starts"][start]["hosts"].as_array().unwrap() {
            assert!(["model", "optional"].contains(&host["expected"].as_str().unwrap()), "{host}");
        }
    }

    let misspelt = probe().table(case.misspelt).run().must_be(1, "fail");
    for tool in case.web {
        assert!(misspelt.web(1).contains(&(*tool).to_owned()), "{misspelt:?}");
    }
}
