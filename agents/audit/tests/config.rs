//! The corpus of `tests/agent-configs`: what each agent's program would offer in each case, as it was measured.
//!
//! A case is a folder `<agent>/<case>/` with `case.toml` and, below `root/`, the files that the program sees. Everything
//! that a case expects is asserted, and nothing may turn up that it does not expect, remarks excepted.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use closedbook_audit::config::{Launch, MemoryFiles, Origin, Report, State, Verdict, audit};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Case {
    /// What the case shows.
    title: String,
    /// The arguments; not given: not known.
    argv: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default = "yes")]
    env_is_whole: bool,
    #[serde(default = "home")]
    home: String,
    #[serde(default = "workdir")]
    workdir: String,
    uid: Option<u32>,
    version: Option<String>,
    /// Files besides those of the tree, each a path and its bytes in hexadecimal: what a text file can't hold.
    #[serde(default)]
    hex: BTreeMap<String, String>,
    /// Paths that can't be read, each with why.
    #[serde(default)]
    unreadable: BTreeMap<String, String>,
    /// Files that are long: `[text, how often]`.
    #[serde(default)]
    repeated: BTreeMap<String, (String, usize)>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// `off`, `on` or `unknown` of every tool.
    tools: BTreeMap<String, String>,
    /// The place of the setting that decides, per tool: `/root/.claude/settings.json:3`, `argument 4`.
    #[serde(default)]
    by: BTreeMap<String, String>,
    /// Words of the reason, per tool.
    #[serde(default)]
    why: BTreeMap<String, String>,
    /// `KIND NAME STATE`, sorted.
    #[serde(default)]
    brings: Vec<String>,
    /// `FILE:LINE`, or `FILE`.
    #[serde(default)]
    malformed: Vec<String>,
    /// Words that stand in a remark or in what a setting is said to do.
    #[serde(default)]
    remarks: Vec<String>,
}

fn yes() -> bool {
    true
}

fn home() -> String {
    "/root".into()
}

fn workdir() -> String {
    "/work".into()
}

#[test]
fn every_case_is_as_measured() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agent-configs");
    let mut failures = Vec::new();
    let mut cases = 0;
    for agent in folders(&corpus) {
        for case in folders(&corpus.join(&agent)) {
            cases += 1;
            let folder = corpus.join(&agent).join(&case);
            for failure in check(&agent, &folder) {
                failures.push(format!("{agent}/{case}: {failure}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(cases > 0, "no cases in {}", corpus.display());
}

/// G15, G16: whatever bytes stand in the places that are read, nothing panics and nothing comes out clean.
#[test]
fn hostile_bytes_are_no_clean_bill() {
    let deep = "{\"permissions\":".repeat(5_000) + "[";
    let blobs: [&[u8]; 9] = [
        b"",
        b"\xff\xfe\x00",
        b"{\"permissions\":{\"deny\":[[\"WebSearch\"]]},\"tools\":{\"exclude\":{\"web_fetch\":1},\"core\":{}}}",
        b"[]",
        b"{\"mcpServers\":[1],\"hooks\":{\"a\":[1]},\"enabledPlugins\":[],\"projects\":3,\"env\":7}",
        b"---\nname: [\n",
        b"---\n---",
        b"\"",
        deep.as_bytes(),
    ];
    let paths = [
        "/root/.claude/settings.json",
        "/root/.claude.json",
        "/root/.claude/agents/a.md",
        "/work/.claude/settings.local.json",
        "/work/.mcp.json",
        "/etc/claude-code/managed-settings.json",
        "/etc/claude-code/managed-mcp.json",
        "/root/.gemini/settings.json",
        "/root/.gemini/policies/a.toml",
        "/root/.gemini/trustedFolders.json",
        "/work/.gemini/settings.json",
        "/work/.env",
        "/root/.qwen/settings.json",
        "/root/.qwen/agents/a.md",
        "/root/.qwen/extensions/e/qwen-extension.json",
        "/root/.copilot/mcp-config.json",
        "/root/.copilot/config.json",
    ];
    for agent in ["claude-code", "gemini-cli", "qwen-code", "copilot-cli"] {
        for blob in blobs {
            let files = paths.iter().fold(MemoryFiles::default(), |files, path| files.with(path, blob));
            let launch = Launch {
                argv: Some(Vec::new()),
                env: BTreeMap::new(),
                env_is_whole: true,
                home: "/root".into(),
                workdir: "/work".into(),
                uid: None,
                version: None,
                files: &files,
            };
            let report = audit(agent, &launch).unwrap();
            assert_ne!(report.verdict(), Verdict::Off, "{agent} {:?}", String::from_utf8_lossy(blob));
            assert!(report.tools.iter().all(|tool| tool.state != State::Off), "{agent}");
        }
    }
}

fn check(agent: &str, folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("case.toml")).unwrap();
    let case: Case = match toml::from_str(&text) {
        Ok(case) => case,
        Err(error) => return vec![format!("case.toml: {error}")],
    };
    let files = files(&case, &folder.join("root"));
    let argument = |(n, word): (usize, &String)| (word.clone(), Origin::Argument { number: n + 1 });
    let launch = Launch {
        argv: case.argv.as_ref().map(|argv| argv.iter().enumerate().map(argument).collect()),
        env: case
            .env
            .iter()
            .map(|(name, value)| (name.clone(), (value.clone(), Origin::Variable { name: name.clone() })))
            .collect(),
        env_is_whole: case.env_is_whole,
        home: case.home.clone(),
        workdir: case.workdir.clone(),
        uid: case.uid,
        version: case.version.clone(),
        files: &files,
    };
    match audit(agent, &launch) {
        Some(report) => compare(&case, &report),
        None => vec!["there is no auditor for this agent".into()],
    }
}

fn compare(case: &Case, report: &Report) -> Vec<String> {
    let mut failures = Vec::new();
    let mut same = |what: &str, expected: String, found: String| {
        if expected != found {
            failures.push(format!("{what}: expected {expected}, found {found} ({})", case.title));
        }
    };
    let mut expected = case.expect.tools.clone();
    for tool in &report.tools {
        let found = word(tool.state);
        let expected = expected.remove(&tool.tool).unwrap_or_else(|| "nothing".into());
        same(&format!("{} [{}]", tool.tool, tool.why), expected, found);
        if let Some(by) = case.expect.by.get(&tool.tool) {
            let decides = tool.settings.first().map_or("nothing".into(), |first| first.origin.to_string());
            same(&format!("what decides {}", tool.tool), by.clone(), decides);
        }
        if let Some(why) = case.expect.why.get(&tool.tool)
            && !tool.why.contains(why)
        {
            same(&format!("why {}", tool.tool), why.clone(), tool.why.clone());
        }
    }
    for tool in expected.into_keys() {
        same("the tool", tool, "nothing".into());
    }
    let mut brings: Vec<String> =
        report.brings.iter().map(|b| format!("{} {} {}", word(b.kind), b.name, word(b.state))).collect();
    brings.sort();
    same("bringers", format!("{:?}", case.expect.brings), format!("{brings:?}"));
    let malformed: Vec<String> = report
        .malformed
        .iter()
        .map(|m| m.place.map_or(m.file.clone(), |place| format!("{}:{}", m.file, place.line)))
        .collect();
    same("malformed", format!("{:?}", case.expect.malformed), format!("{malformed:?}"));
    for remark in &case.expect.remarks {
        let settings = report.tools.iter().flat_map(|tool| &tool.settings);
        let said = report
            .remarks
            .iter()
            .map(|r| format!("{}: {}", r.origin, r.text))
            .chain(settings.map(|s| format!("{}: {} {:?}", s.origin, s.what, s.says)))
            .chain(report.brings.iter().map(|b| format!("{}: {}", b.origin, b.why)))
            .chain(report.malformed.iter().map(|m| m.to_string()));
        let said: Vec<String> = said.collect();
        if !said.iter().any(|said| said.contains(remark)) {
            same("a remark", remark.clone(), format!("{said:#?}"));
        }
    }
    failures
}

/// A word as the report's JSON has it.
fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

fn files(case: &Case, root: &Path) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let inside = path.strip_prefix(root).unwrap().to_str().unwrap();
                files = files.with(&format!("/{inside}"), fs::read(&path).unwrap());
            }
        }
    }
    for (path, hex) in &case.hex {
        let digits: Vec<char> = hex.chars().filter(|c| !c.is_whitespace()).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        files = files.with(path, digits.chunks(2).map(byte).collect::<Vec<u8>>());
    }
    for (path, (text, times)) in &case.repeated {
        files = files.with(path, text.repeat(*times));
    }
    for (path, why) in &case.unreadable {
        files = files.unreadable(path, why);
    }
    files
}

fn folders(parent: &Path) -> Vec<String> {
    entries(parent)
        .into_iter()
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
