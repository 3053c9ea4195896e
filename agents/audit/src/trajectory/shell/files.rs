//! Files that the agent wrote: what is in them counts when they are run.

use std::collections::HashMap;

use super::super::finding::Raw;
use super::super::hosts::UNKNOWN;
use super::Output;

/// What is kept of all files together.
const MOST: usize = 64 << 20;

/// The languages that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    Shell,
    Code,
    /// Data and prose: nothing runs it.
    Text,
}

/// The files, by the last part of their path: where a command stands is not always known.
#[derive(Debug, Default)]
pub(crate) struct Files {
    files: HashMap<String, Written>,
    held: usize,
    pipes: usize,
    /// What was written since someone last asked.
    fresh: Vec<String>,
    overflowed: bool,
}

/// A file.
#[derive(Debug, Default, Clone)]
pub(crate) struct Written {
    content: String,
    /// Whether a command has run it.
    pub(crate) ran: bool,
    /// What running it does, when that was found out before.
    pub(crate) known: Option<Known>,
    unreadable: Option<Output>,
}

/// What running a file does, and of which length and as what it was read.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) of: (usize, Language),
    pub(crate) found: Vec<Raw>,
}

impl Files {
    /// Adds a text to a file. What was there before is kept: it may have been run.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        let name = base(path);
        if name.is_empty() {
            return;
        }
        if self.held + text.len() > MOST {
            self.overflowed = true;
            return;
        }
        let file = self.files.entry(name.to_owned()).or_default();
        if file.content == text {
            return;
        }
        self.held += text.len();
        if !file.content.is_empty() && !file.content.ends_with('\n') {
            file.content.push('\n');
        }
        file.content.push_str(text);
        if self.fresh.last().map(String::as_str) != Some(name) {
            self.fresh.push(name.to_owned());
        }
    }

    /// What a program wrote into a file.
    pub(crate) fn write(&mut self, path: &str, output: Output) {
        match output {
            Output::Text(text) if text.is_empty() => {}
            Output::Text(text) => self.add(path, &text),
            // Only what can't be read because it was decoded is worth a mark.
            Output::Decoded if !base(path).is_empty() => {
                self.files.entry(base(path).to_owned()).or_default().unreadable = Some(Output::Decoded);
            }
            _ => {}
        }
    }

    /// Whether files were left out because there were too many.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    pub(crate) fn take_fresh(&mut self) -> Vec<String> {
        std::mem::take(&mut self.fresh)
    }

    pub(crate) fn content(&self, path: &str) -> Option<String> {
        let file = self.files.get(base(path))?;
        file.unreadable.is_none().then(|| file.content.clone())
    }

    /// What a file gives when it can't be read here.
    pub(crate) fn unreadable(&self, path: &str) -> Option<Output> {
        self.files.get(base(path))?.unreadable.clone()
    }

    pub(crate) fn get_mut(&mut self, path: &str) -> Option<&mut Written> {
        self.files.get_mut(base(path))
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(base(path))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = (&String, &Written)> {
        self.files.iter()
    }

    /// Forgets what is known of all files but their texts.
    pub(crate) fn copied(&mut self, from: &str, to: &str) {
        if let Some(text) = self.content(from) {
            self.add(to, &text);
        }
    }

    /// A name under which a program's output can be read, as `<(...)` has one.
    pub(crate) fn pipe(&mut self, output: Output) -> String {
        self.pipes += 1;
        let name = format!("{UNKNOWN}pipe{}", self.pipes);
        if self.pipes > 10_000 {
            return name;
        }
        match output {
            Output::Text(text) => {
                self.add(&name, &text);
                self.fresh.retain(|fresh| *fresh != name);
            }
            output => {
                self.files.insert(name.clone(), Written { unreadable: Some(output), ..Written::default() });
            }
        }
        name
    }
}

impl Written {
    pub(crate) fn content(&self) -> &str {
        &self.content
    }
}

/// The last part of a path.
pub(crate) fn base(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// What a file holds, by its name and its first line.
pub(crate) fn language(name: &str, content: &str) -> Language {
    if let Some(first) = content.strip_prefix("#!") {
        let line = first.lines().next().unwrap_or_default();
        let shell = ["sh", "bash", "dash", "zsh", "ksh", "busybox sh"]
            .iter()
            .any(|shell| line.split_whitespace().any(|word| base(word) == *shell));
        return if shell { Language::Shell } else { Language::Code };
    }
    let name = base(name).to_ascii_lowercase();
    if name == "makefile" || name == "gnumakefile" || name == "dockerfile" || name == "justfile" {
        return Language::Shell;
    }
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("sh" | "bash" | "zsh" | "ksh" | "command" | "mk" | "bats" | "bashrc" | "profile") => {
            Language::Shell
        }
        Some(
            "py" | "pyw" | "ipynb" | "r" | "rmd" | "qmd" | "rnw" | "rprofile" | "js" | "mjs" | "cjs" | "ts"
            | "tsx" | "jsx" | "pl" | "pm" | "rb" | "php" | "jl" | "lua" | "go" | "java" | "kt" | "scala"
            | "rs" | "c" | "cc" | "cpp" | "h" | "cs" | "ps1" | "tcl" | "awk" | "swift" | "ex" | "exs" | "sas",
        ) => Language::Code,
        Some(_) => Language::Text,
        None => Language::Text,
    }
}
