//! What a shell script would do, as far as it concerns the network.
//!
//! The script is not searched for words, it is read the way a shell reads it: quotes come off, variables that were set
//! get their values, `echo`, `printf` and decoders give their output to what they are piped into, and every place where
//! a command can begin is looked at: after `sudo` and `xargs`, in `bash -c`, in `$(...)`, in a file written before.
//! So `c""url`, `$'\x63url'` and `echo Y3VybA== | base64 -d | sh` are `curl`, and `grep curl` is not.
//!
//! Nothing is run, and what can't be known stays unknown. All work is bounded by [`BUDGET`].

use std::collections::HashMap;

use super::finding::{Kind, Level, Raw};
use super::hosts::{self, UNKNOWN};

mod commands;
mod examine;
mod expand;
mod files;
mod grammar;
mod interpreters;
mod lex;
mod network;
mod output;
mod packages;
mod redirects;
mod versions;

pub(crate) use files::{Files, Language};
use grammar::{Cursor, End};
pub(crate) use output::Output;

/// Scripts in scripts are followed so far.
const DEEPEST: usize = 12;

/// Variables that are kept.
const MOST_VARIABLES: usize = 4096;

/// The longest value or output that is followed.
const LONGEST_VALUE: usize = 256 << 10;

/// How much text one tool call may make the scan read, beyond its own length.
const BUDGET: usize = 16 << 20;

/// And all calls of a transcript together: seconds of work. What comes after is reported as not followed, which is a
/// violation: a transcript that is too much to read is not clean.
const BUDGET_OF_ALL: usize = 512 << 20;

/// What following the shortest text costs of it: so many short ones take time too.
const LEAST_COST: usize = 2048;

const TOO_MUCH: &str = "nested too deeply, or too large, to be followed";

/// What a transcript's calls leave for the calls after them.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) files: Files,
    variables: HashMap<String, String>,
    /// What is left of [`BUDGET_OF_ALL`].
    left: usize,
}

impl Default for World {
    fn default() -> Self {
        Self { files: Files::default(), variables: HashMap::new(), left: BUDGET_OF_ALL }
    }
}

/// One tool call's scan.
pub(crate) struct Shell<'w> {
    pub(crate) world: &'w mut World,
    pub(crate) found: Vec<Raw>,
    via: Vec<String>,
    depth: usize,
    budget: usize,
    cases: usize,
}

impl<'w> Shell<'w> {
    pub(crate) fn new(world: &'w mut World) -> Self {
        Self { world, found: Vec::new(), via: Vec::new(), depth: 0, budget: BUDGET, cases: 0 }
    }

    /// Reads a script that the call itself carries.
    pub(crate) fn script(&mut self, script: &str) -> Output {
        self.budget = self.budget.max(BUDGET).saturating_add(script.len());
        self.run(script, Output::none())
    }

    pub(crate) fn report(&mut self, mut raw: Raw) {
        raw.via.splice(0..0, self.via.iter().cloned());
        // The same thing may be come to on two ways.
        let known = |held: &Raw| {
            (held.kind, held.level, &held.reason, &held.what, &held.hosts)
                == (raw.kind, raw.level, &raw.reason, &raw.what, &raw.hosts)
        };
        if self.found.len() < 1000 && !self.found.iter().any(known) {
            self.found.push(raw);
        }
    }

    /// Goes on within something, unless that is too deep or too much.
    pub(crate) fn within<T>(
        &mut self,
        via: &str,
        length: usize,
        then: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let cost = length.saturating_add(LEAST_COST);
        if self.depth >= DEEPEST || !self.spend(cost) {
            self.report(Raw::new(Kind::Opaque, TOO_MUCH, via).likely());
            return None;
        }
        self.depth += 1;
        if !via.is_empty() {
            self.via.push(via.to_owned());
        }
        let outcome = then(self);
        if !via.is_empty() {
            self.via.pop();
        }
        self.depth -= 1;
        Some(outcome)
    }

    /// Takes work from what is left; `false` if there is not so much.
    fn spend(&mut self, cost: usize) -> bool {
        let enough = self.budget >= cost && self.world.left >= cost;
        if enough {
            self.budget -= cost;
            self.world.left -= cost;
        }
        enough
    }

    /// The value of a variable. A long one that is used again and again costs as much as it is long, each time.
    fn known(&mut self, name: &str) -> Option<String> {
        let length = self.world.variables.get(name)?.len();
        if !self.spend(length) {
            self.report(Raw::new(Kind::Opaque, TOO_MUCH, name).likely());
            return None;
        }
        self.world.variables.get(name).cloned()
    }

    /// Runs a script that something else carries.
    fn run_within(&mut self, via: &str, script: &str, input: Output) -> Output {
        self.within(via, script.len(), |shell| shell.run(script, input)).unwrap_or(Output::Unknown)
    }

    fn run(&mut self, script: &str, input: Output) -> Output {
        let tokens = lex::tokens(script);
        let mut cursor = Cursor { tokens: &tokens, nested: 0 };
        let cases = std::mem::take(&mut self.cases);
        let output = self.list(&mut cursor, End::Script, input);
        self.cases = cases;
        output
    }

    /// `$1`, `$@`
    fn parameters(&mut self, given: &[&str]) {
        if given.is_empty() {
            return;
        }
        for (index, value) in given.iter().take(20).enumerate() {
            self.set(&(index + 1).to_string(), (*value).to_owned());
        }
        self.set("@", given.join(" "));
    }

    fn set(&mut self, name: &str, value: String) {
        let name = name.split('[').next().unwrap_or_default().trim_end_matches('+');
        let lower = name.to_ascii_lowercase();
        if lower.ends_with("_proxy") && hosts::bare(&value).is_some_and(|host| !hosts::is_here(&host)) {
            let hosts = hosts::bare(&value).into_iter().collect();
            self.report(
                Raw::new(Kind::Proxy, "a proxy is set", &format!("{name}={value}")).hosts(hosts).likely(),
            );
        }
        if value.len() <= LONGEST_VALUE
            && (self.world.variables.len() < MOST_VARIABLES || self.world.variables.contains_key(name))
        {
            self.world.variables.insert(name.to_owned(), value);
        }
    }
}

/// Whether a file is of a kind that is run.
pub(crate) fn is_program_file(world: &World, name: &str) -> bool {
    world.files.content(name).is_some_and(|content| files::language(name, &content) != Language::Text)
}

/// Whether running a file would be a violation.
pub(crate) fn would_violate(world: &mut World, name: &str) -> bool {
    let mut shell = Shell::new(world);
    let found = examine::examine(&mut shell, name, None).unwrap_or_default();
    found.iter().any(|raw| raw.level == Level::Violation)
}

/// What a file would do that nothing has run.
pub(crate) fn unrun(world: &mut World, name: &str) -> Option<Vec<Raw>> {
    let mut shell = Shell::new(world);
    if shell.world.files.get_mut(name)?.ran {
        return None;
    }
    examine::examine(&mut shell, name, None)
}

#[cfg(test)]
mod tests;
