//! The corpus of `tests/agent-configs` against the real CLIs: what the audit says of a start, and what the program, started
//! so in the lab, really offers its model.
//!
//! What the audit calls off must not be offered; what it calls on must be. Each case costs seconds, so a sample runs; with
//! `CLOSEDBOOK_REAL=all` the whole corpus, with `CLOSEDBOOK_REAL=claude-code/` what begins so.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use closedbook_agents::{Ask, Settings, Table};
use closedbook_audit::config::{Content, Files, Launch, Origin, State, audit};
use closedbook_audit::offer::{How, Offer, Tape};
use serde::Deserialize;
use support::{clients, open_folder, say};

const PROMPT: &str = "Say hello. @@more-tools";
/// How many cases of each agent are in the sample.
const SAMPLE: usize = 7;
const AGENTS: [&str; 5] = ["claude-code", "codex", "opencode", "gemini-cli", "qwen-code"];

/// Tools that other models or providers than the lab's get: they may be on and not be seen.
const NOT_HERE: &[(&str, &str)] = &[("codex", "web_search"), ("opencode", "websearch")];

/// What matters of a case here; the corpus's own test reads all of it.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Case {
    argv: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default = "home")]
    home: String,
    #[serde(default = "workdir")]
    workdir: String,
    version: Option<String>,
    #[serde(default)]
    hex: toml::Table,
    #[serde(default)]
    unreadable: toml::Table,
    #[serde(default)]
    repeated: toml::Table,
    #[serde(default)]
    uid: Option<u32>,
}

fn home() -> String {
    "/root".into()
}

fn workdir() -> String {
    "/work".into()
}

/// What came of a case.
enum Outcome {
    Agrees,
    /// Why it can't be tried here.
    NotTried(&'static str),
    /// The program asked its model nothing, with its last words: it refused to start so.
    NoTurn(String),
    Differs(String),
}

#[test]
fn the_audit_says_what_the_real_programs_do() {
    let wanted = std::env::var("CLOSEDBOOK_REAL").unwrap_or_default();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agent-configs");
    let mut jobs = Vec::new();
    for agent in AGENTS {
        let Some(program) = clients::agent(agent) else { continue };
        let cases = names(&corpus.join(agent));
        // Spread over the alphabet, the same every time.
        let step = if wanted.is_empty() { cases.len().div_ceil(SAMPLE).max(1) } else { 1 };
        for case in cases.iter().step_by(step) {
            let name = format!("{agent}/{case}");
            if wanted.is_empty() || wanted == "all" || name.starts_with(&wanted) {
                jobs.push((agent, corpus.join(&name), program.clone(), name));
            }
        }
    }
    let (jobs, results) = (Mutex::new(jobs), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((agent, folder, program, name)) = { jobs.lock().unwrap().pop() } {
                    let outcome = attempt(agent, &folder, &program);
                    results.lock().unwrap().push((name, outcome));
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    let mut counts = BTreeMap::new();
    let (mut differing, mut silent) = (Vec::new(), Vec::new());
    for (name, outcome) in &results {
        let word = match outcome {
            Outcome::Agrees => "agree",
            Outcome::NotTried(why) => why,
            Outcome::NoTurn(said) => {
                silent.push(format!("{name}: {said}"));
                "make no request"
            }
            Outcome::Differs(how) => {
                differing.push(format!("{name}: {how}"));
                "differ"
            }
        };
        *counts.entry(word).or_insert(0) += 1;
    }
    say(&format!("real programs against the audit, {} cases: {counts:?}", results.len()));
    silent.iter().for_each(|line| eprintln!("no request: {line}"));
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

fn attempt(agent: &str, folder: &Path, program: &[PathBuf]) -> Outcome {
    let case: Case = toml::from_str(&fs::read_to_string(folder.join("case.toml")).unwrap()).unwrap();
    let Some(argv) = &case.argv else { return Outcome::NotTried("leave the arguments open") };
    if !case.hex.is_empty() || !case.unreadable.is_empty() || !case.repeated.is_empty() {
        return Outcome::NotTried("have files made up");
    }
    let table = Table::embedded().unwrap();
    let row = table.row(agent).unwrap();
    let usable = row.usable().unwrap();
    if case.version.as_ref().is_some_and(|version| version != usable.version.as_str() && agent != "opencode")
    {
        return Outcome::NotTried("are of another version");
    }
    let root = folder.join("root");
    let with_etc = root.join("etc").is_dir();
    if with_etc && !nix::unistd::geteuid().is_root() {
        return Outcome::NotTried("need root for /etc");
    }
    if case.uid.is_some_and(|uid| uid != 0) {
        return Outcome::NotTried("are of another user");
    }
    let scratch = open_folder();
    let (home, work) = (scratch.path().join("home"), scratch.path().join("work"));
    copy(&root.join(case.home.trim_start_matches('/')), &home);
    copy(&root.join(case.workdir.trim_start_matches('/')), &work);
    let elsewhere = names(&root).into_iter().any(|name| {
        let top = |path: &str| path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        name != "etc" && name != top(&case.home) && name != top(&case.workdir)
    });
    if elsewhere {
        return Outcome::NotTried("have files elsewhere");
    }
    let moved = |text: &str| {
        text.replace(&case.workdir, work.to_str().unwrap()).replace(&case.home, home.to_str().unwrap())
    };
    // What the audit is asked is what the program is started with.
    let files = Real { root: root.clone(), home: home.clone(), work: work.clone() };
    let argument = |(n, word): (usize, &String)| (moved(word), Origin::Argument { number: n + 1 });
    let env: BTreeMap<String, String> =
        case.env.iter().map(|(name, value)| (name.clone(), moved(value))).collect();
    let launch = Launch {
        argv: Some(argv.iter().enumerate().map(argument).collect()),
        env: env
            .iter()
            .map(|(name, value)| (name.clone(), (value.clone(), Origin::Variable { name: name.clone() })))
            .collect(),
        env_is_whole: true,
        home: home.to_str().unwrap().to_owned(),
        workdir: work.to_str().unwrap().to_owned(),
        uid: Some(0),
        version: Some(usable.version.to_string()),
        files: &files,
    };
    let report = audit(agent, &launch).unwrap();

    let recipe = usable.probe.as_ref().unwrap();
    let settings = Settings::of(recipe, PROMPT, []).unwrap();
    let ask = Ask { agent, provider: Some(&recipe.provider), ..Ask::default() };
    let choice = table.choose(&ask).unwrap();
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "60"]);
    if with_etc {
        // What the case has in /etc lies over the machine's.
        command.args([
            "unshare",
            "--mount",
            "sh",
            "-c",
            "mount -t overlay -o lowerdir=\"$0\":/etc none /etc && exec \"$@\"",
        ]);
        command.arg(root.join("etc"));
    }
    let tape = scratch.path().join("tape");
    command.arg(env!("CARGO_BIN_EXE_closedbook")).args(["run", "--quiet", "--lab", "--tape"]).arg(&tape);
    for host in choice.agent_hosts() {
        command.args(["--allow", host.as_str()]);
    }
    command
        .arg("--")
        .args(program)
        .args(&settings.args)
        .args(own_words(argv, &settings.args).iter().map(|word| moved(word)));
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.envs([("TERM", "dumb"), ("LANG", "C.UTF-8")]).env("HOME", &home).envs(&settings.env).envs(&env);
    command.current_dir(&work).stdin(Stdio::null());
    let output = command.output().unwrap();
    let tools: Vec<&str> = usable.tools.iter().map(|tool| tool.name.as_str()).collect();
    let no_turn = || {
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
        Outcome::NoTurn(last.chars().take(200).collect())
    };
    let Ok(recorded) = Tape::read("tape", &fs::read(&tape).unwrap_or_default()) else {
        return no_turn();
    };
    let offer = Offer::read(&recorded, &String::from_utf8_lossy(&output.stdout), &tools);
    if offer.turns == 0 {
        return no_turn();
    }
    // A name in a text that offers nothing (what a subagent is said to be for) is no offer.
    let offers = offer.tools.iter().filter(|tool| tool.how != How::Mentioned);
    let offered: BTreeSet<&str> = offers.map(|tool| tool.name.as_str()).collect();
    let mut wrong = Vec::new();
    for tool in &report.tools {
        let is_offered = offered.contains(tool.tool.as_str());
        let excused = NOT_HERE.contains(&(agent, tool.tool.as_str()));
        match tool.state {
            State::Off if is_offered => {
                wrong.push(format!("{} is OFFERED, the audit says off: {}", tool.tool, tool.why))
            }
            State::On if !is_offered && !excused => {
                wrong.push(format!("{} is not offered, the audit says on: {}", tool.tool, tool.why));
            }
            State::Off | State::On | State::Unknown => {}
        }
    }
    if wrong.is_empty() { Outcome::Agrees } else { Outcome::Differs(wrong.join("; ")) }
}

/// The words of a case that the recipe does not bring: neither the prompt nor flags that can't be given twice.
fn own_words(argv: &[String], recipe: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = argv.iter().peekable();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-p" | "--print" | "--prompt" => drop(rest.next_if(|next| !next.starts_with('-'))),
            "do it" | "x" => {}
            word if recipe.iter().any(|brought| brought == word) => {}
            word => words.push(word.to_owned()),
        }
    }
    words
}

/// The files of a case where they really lie.
struct Real {
    root: PathBuf,
    home: PathBuf,
    work: PathBuf,
}

impl Real {
    fn place(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        if path.starts_with(&self.home) || path.starts_with(&self.work) {
            return Some(path.to_owned());
        }
        path.starts_with("/etc").then(|| self.root.join(path.strip_prefix("/").unwrap()))
    }
}

impl Files for Real {
    fn read(&self, path: &str) -> Content {
        match self.place(path).map(fs::read) {
            Some(Ok(bytes)) => Content::Bytes(bytes),
            _ => Content::Absent,
        }
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.place(folder).map(|folder| names(&folder)).unwrap_or_default()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(&from, &to).unwrap()),
        }
    }
}
