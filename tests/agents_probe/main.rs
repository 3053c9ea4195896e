//! `closedbook agents probe`: with a CLI of our own that does what it is told, and with the real ones where they can be
//! had.
//!
//! Nothing that is probed reaches beyond the lab.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../support/mod.rs"]
mod support;

mod obedience;
mod real;

use std::process::Stdio;

use serde_json::Value;
use support::{Mode, as_mode, open_folder, program};
use tempfile::TempDir;

/// A probe that is over.
#[derive(Debug)]
pub(crate) struct Probed {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A probe to be.
pub(crate) struct Probe {
    mode: Mode,
    agent: String,
    flags: Vec<String>,
    program: Vec<String>,
    folder: TempDir,
}

impl Probe {
    pub(crate) fn of(mode: Mode, agent: &str) -> Self {
        let (flags, program) = (vec!["--json".to_owned()], Vec::new());
        Self { mode, agent: agent.to_owned(), flags, program, folder: open_folder() }
    }

    pub(crate) fn flags(mut self, flags: &[&str]) -> Self {
        self.flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    pub(crate) fn program(mut self, words: &[&str]) -> Self {
        self.program = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// The built-in table with these changes, each of which must change something.
    pub(crate) fn table(mut self, changes: &[(&str, &str)]) -> Self {
        let mut text = include_str!("../../agents/table.toml").to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "the table has no {from}");
            text = text.replace(from, to);
        }
        let file = self.folder.path().join("table.toml");
        std::fs::write(&file, text).unwrap();
        self.flags.extend(["--table".to_owned(), file.to_string_lossy().into_owned()]);
        self
    }

    /// A file that every user can read.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_string_lossy().into_owned()
    }

    pub(crate) fn run(self) -> Probed {
        let mut command = as_mode(self.mode, true);
        // What the user has set must not reach the CLI.
        command.args(["CLAUDE_CONFIG_DIR=/nowhere", "OPENCODE_PERMISSION={}"]);
        command.args([program(), "agents", "probe", &self.agent]).args(&self.flags);
        if !self.program.is_empty() {
            command.arg("--").args(&self.program);
        }
        let output = command.stdin(Stdio::null()).current_dir("/").output().unwrap();
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        Probed {
            code: output.status.code().unwrap(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

impl Probed {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Exit code and verdict.
    #[track_caller]
    pub(crate) fn must_be(self, code: i32, verdict: &str) -> Self {
        assert_eq!((self.code, self.json()["verdict"].as_str()), (code, Some(verdict)), "{self:?}");
        self
    }

    /// Some finding of this weight says so.
    #[track_caller]
    pub(crate) fn must_find(self, weight: &str, tool: Option<&str>, text: &str) -> Self {
        let found = self.json()["findings"].as_array().unwrap().iter().any(|finding| {
            finding["weight"] == weight
                && finding["tool"].as_str() == tool
                && finding["text"].as_str().unwrap().contains(text)
        });
        assert!(found, "no {weight} about {tool:?}: {text}: {self:?}");
        self
    }

    /// The names of the web tools that were seen in a start.
    #[track_caller]
    pub(crate) fn web(&self, start: usize) -> Vec<String> {
        let json = self.json();
        let mut names: Vec<String> = json["starts"][start]["web"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// What is said of a host in a start: `allowed` and `refused` as counted or not, and what it is expected as.
    #[track_caller]
    pub(crate) fn host(&self, start: usize, host: &str) -> Option<(bool, bool, String)> {
        let json = self.json();
        let hosts = json["starts"][start]["hosts"].as_array().unwrap().clone();
        let host = hosts.into_iter().find(|one| one["host"] == host)?;
        let counted = |field: &str| host[field].as_u64().unwrap() > 0;
        Some((counted("allowed"), counted("refused"), host["expected"].as_str().unwrap().to_owned()))
    }
}
