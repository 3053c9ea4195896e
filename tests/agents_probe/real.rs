//! The real CLIs at the versions of the table, as npm has them. What can't be installed is said loudly.
//!
//! `CLOSEDBOOK_TEST_CLIS` names a `node_modules` that has them; without it they are installed below the target folder,
//! once. Each is probed as the table has it, and with its switches misspelt as people misspell them: what a probe can't
//! catch, it can't clear either.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::*;
use support::{modes, say};

/// All that is installed.
const PACKAGES: [&str; 6] = [
    "@anthropic-ai/claude-code@2.1.295",
    "@openai/codex@0.162.0",
    "opencode-ai@1.18.33",
    "@google/gemini-cli@0.61.0",
    "@qwen-code/qwen-code@0.24.4",
    "node@24.21.0",
];
/// How long that may take.
const INSTALL: Duration = Duration::from_secs(300);

/// A CLI, and what is known of it.
struct Case {
    agent: &'static str,
    program: &'static [&'static str],
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
        program: &["claude"],
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
        program: &["codex"],
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
        program: &["opencode"],
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
        program: &["node", "gemini"],
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
        program: &["node", "qwen"],
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
    let folder = match installed() {
        Ok(folder) => folder.join(".bin"),
        Err(why) => return not_tested(case, why),
    };
    let program: Vec<PathBuf> = case.program.iter().map(|name| folder.join(name)).collect();
    if let Some(missing) = program.iter().find(|path| !path.exists()) {
        return not_tested(case, &format!("{} is not there", missing.display()));
    }
    let program: Vec<&str> = program.iter().map(|path| path.to_str().unwrap()).collect();
    // The folder may be root's alone.
    let probe = || Probe::of(modes()[0], case.agent).flags(case.flags).program(&program).path(&folder);

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

fn not_tested(case: &Case, why: &str) {
    say(&format!("NOT TESTED: agents probe {}: {why}", case.agent));
}

/// The `node_modules` that has them all, or why there is none.
fn installed() -> Result<&'static Path, &'static str> {
    static PLACE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PLACE.get_or_init(find_or_install).as_ref().map(PathBuf::as_path).map_err(String::as_str)
}

fn find_or_install() -> Result<PathBuf, String> {
    if let Some(given) = std::env::var_os("CLOSEDBOOK_TEST_CLIS") {
        let given = PathBuf::from(given);
        return given.is_dir().then_some(given.clone()).ok_or(format!("{} is no folder", given.display()));
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clis");
    let done = folder.join(format!("done-{}", fingerprint()));
    let modules = folder.join("node_modules");
    if done.exists() {
        return Ok(modules);
    }
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--no-progress",
        "--loglevel",
        "error",
        "--prefix",
    ]);
    npm.arg(&folder)
        .args(PACKAGES)
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut npm = npm.spawn().map_err(|error| format!("npm can't be run: {error}"))?;
    let mut complaints = npm.stderr.take().unwrap();
    let begun = Instant::now();
    loop {
        match npm.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => break,
            Some(status) => {
                let mut said = String::new();
                let _ = std::io::Read::read_to_string(&mut complaints, &mut said);
                let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                return Err(format!("npm install ended with {status}: {first}"));
            }
            None if begun.elapsed() > INSTALL => {
                let _ = npm.kill();
                let _ = npm.wait();
                return Err(format!("npm install took more than {} s", INSTALL.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    fs::write(done, "").map_err(|error| error.to_string())?;
    Ok(modules)
}

/// Other packages are installed anew.
fn fingerprint() -> String {
    PACKAGES.concat().chars().filter(char::is_ascii_alphanumeric).collect()
}
