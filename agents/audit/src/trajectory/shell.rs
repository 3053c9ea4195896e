//! What a shell script would do, as far as it concerns the network.
//!
//! The script is not searched for words, it is read the way a shell reads it: quotes come off, variables that were set
//! get their values, `echo`, `printf` and decoders give their output to what they are piped into, and every place where
//! a command can begin is looked at: after `sudo` and `xargs`, in `bash -c`, in `$(...)`, in a file written before.
//! So `c""url`, `$'\x63url'` and `echo Y3VybA== | base64 -d | sh` are `curl`, and `grep curl` is not.
//!
//! Nothing is run, and what can't be known stays unknown. All work is bounded by [`Budget`].

use std::collections::HashMap;

use super::finding::{Kind, Level, Raw};
use super::hosts::UNKNOWN;

mod commands;
mod expand;
mod files;
mod interpreters;
mod lex;
mod network;
mod packages;
mod versions;

pub(crate) use files::{Files, Language};
use lex::{Operator, Redirect, Token, Word};

/// Scripts in scripts are followed so far.
const DEEPEST: usize = 12;

/// Variables that are kept.
const MOST_VARIABLES: usize = 4096;

/// The longest value or output that is followed.
const LONGEST_VALUE: usize = 1 << 20;

/// How much text one tool call may make the scan read, beyond its own length.
const BUDGET: usize = 16 << 20;

/// What the scan knows of a program's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// This text.
    Text(String),
    /// Something.
    Unknown,
    /// Something that was decoded or unpacked, so that it can't be read here.
    Decoded,
}

impl Output {
    pub(crate) fn none() -> Self {
        Output::Text(String::new())
    }

    fn append(self, more: Output) -> Output {
        match (self, more) {
            (Output::Text(mut text), Output::Text(more)) => {
                if text.len() + more.len() > LONGEST_VALUE {
                    return Output::Unknown;
                }
                text.push_str(&more);
                Output::Text(text)
            }
            (Output::Decoded, _) | (_, Output::Decoded) => Output::Decoded,
            _ => Output::Unknown,
        }
    }

    /// The text, with a mark for what is unknown.
    fn or_mark(self) -> String {
        match self {
            Output::Text(text) => text,
            _ => UNKNOWN.to_string(),
        }
    }
}

/// What a transcript's calls leave for the calls after them.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) files: Files,
    variables: HashMap<String, String>,
}

/// What following the shortest text costs of it: so many short ones take time too.
const LEAST_COST: usize = 2048;

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
        if self.depth >= DEEPEST || self.budget < cost {
            let why = "nested too deeply, or too large, to be followed";
            self.report(Raw::new(Kind::Opaque, why, via).likely());
            return None;
        }
        self.budget -= cost;
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
        if lower.ends_with("_proxy")
            && super::hosts::bare(&value).is_some_and(|host| !super::hosts::is_here(&host))
        {
            let hosts = super::hosts::bare(&value).into_iter().collect();
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

    fn list(&mut self, cursor: &mut Cursor<'_>, end: End, input: Output) -> Output {
        let mut output = Output::none();
        let mut input = Some(input);
        loop {
            match cursor.peek() {
                None => return output,
                Some(Token::Operator(Operator::Close)) => {
                    cursor.next();
                    if end == End::Parenthesis && self.cases == 0 {
                        return output;
                    }
                }
                Some(Token::Operator(Operator::Separator | Operator::Pipe)) => cursor.next(),
                Some(Token::Word(word)) if end == End::Brace && word.bare() == Some("}") => {
                    cursor.next();
                    return output;
                }
                Some(_) => {
                    // The first command of a group reads what is piped into the group.
                    let first = input.take().unwrap_or_else(Output::none);
                    let more = self.pipeline(cursor, first);
                    output = output.append(more);
                }
            }
        }
    }

    fn pipeline(&mut self, cursor: &mut Cursor<'_>, input: Output) -> Output {
        let mut flow = input;
        loop {
            flow = self.stage(cursor, flow);
            if cursor.peek() != Some(&Token::Operator(Operator::Pipe)) {
                return flow;
            }
            cursor.next();
            while cursor.peek() == Some(&Token::Operator(Operator::Separator)) {
                cursor.next();
            }
        }
    }

    fn stage(&mut self, cursor: &mut Cursor<'_>, input: Output) -> Output {
        let end = match cursor.peek() {
            Some(Token::Operator(Operator::Open)) => Some(End::Parenthesis),
            Some(Token::Word(word)) if word.bare() == Some("{") => Some(End::Brace),
            _ => None,
        };
        let Some(end) = end else { return self.simple(cursor, input) };
        cursor.next();
        if cursor.nested >= 100 {
            self.report(Raw::new(Kind::Opaque, "nested too deeply to be followed", "(").likely());
            cursor.tokens = &[];
            return Output::Unknown;
        }
        cursor.nested += 1;
        // The redirections stand after the group, and what is fed into it is known only then.
        let output = self.list(cursor, end, input);
        cursor.nested -= 1;
        let mut redirects = Vec::new();
        while let Some(Token::Redirect(redirect)) = cursor.peek() {
            redirects.push(redirect.clone());
            cursor.next();
        }
        self.redirect_output(&redirects, output)
    }

    /// One command with its words and redirections, to the next operator.
    fn simple(&mut self, cursor: &mut Cursor<'_>, input: Output) -> Output {
        let mut words: Vec<Word> = Vec::new();
        let mut redirects = Vec::new();
        loop {
            match cursor.peek() {
                Some(Token::Word(word)) => {
                    if words.is_empty() && self.keyword(cursor, word) {
                        continue;
                    }
                    words.push(word.clone());
                    cursor.next();
                }
                Some(Token::Redirect(redirect)) => {
                    redirects.push(redirect.clone());
                    cursor.next();
                }
                // `name()` begins a function: its body is read where it stands.
                Some(Token::Operator(Operator::Open)) if words.len() == 1 && cursor.closes_at_once() => {
                    cursor.next();
                    cursor.next();
                    return Output::none();
                }
                // The pattern of a `case`.
                Some(Token::Operator(Operator::Close)) if self.cases > 0 => {
                    cursor.next();
                    return Output::none();
                }
                Some(Token::Operator(Operator::Open)) if self.cases > 0 && words.is_empty() => cursor.next(),
                // `cmd (` is no shell; what is in there is read as commands.
                _ => break,
            }
        }
        let input = self.redirect_input(&redirects, input);
        let output = self.words(&words, input);
        self.redirect_output(&redirects, output)
    }

    /// Passes over a keyword at the beginning of a command.
    fn keyword(&mut self, cursor: &mut Cursor<'_>, word: &Word) -> bool {
        match word.bare() {
            Some(
                "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "!" | "coproc"
                | "}",
            ) => {
                cursor.next();
                true
            }
            Some("for" | "select") => {
                cursor.next();
                self.loop_head(cursor);
                true
            }
            Some("case") => {
                cursor.next();
                while let Some(Token::Word(word)) = cursor.peek() {
                    let last = word.bare() == Some("in");
                    let _ = self.expand(word);
                    cursor.next();
                    if last {
                        self.cases += 1;
                        break;
                    }
                }
                true
            }
            Some("esac") => {
                self.cases = self.cases.saturating_sub(1);
                cursor.next();
                true
            }
            Some("function") => {
                cursor.next();
                cursor.next();
                if cursor.peek() == Some(&Token::Operator(Operator::Open)) && cursor.closes_at_once() {
                    cursor.next();
                    cursor.next();
                }
                true
            }
            _ => false,
        }
    }

    /// `for NAME in WORDS`: the variable gets all of them at once.
    fn loop_head(&mut self, cursor: &mut Cursor<'_>) {
        let Some(Token::Word(name)) = cursor.peek() else { return };
        let name = name.bare().unwrap_or_default().to_owned();
        cursor.next();
        let mut values = Vec::new();
        while let Some(Token::Word(word)) = cursor.peek() {
            if word.bare() == Some("do") {
                break;
            }
            if word.bare() != Some("in") || !values.is_empty() {
                values.extend(self.expand(word));
            }
            cursor.next();
        }
        self.set(&name, if values.is_empty() { UNKNOWN.to_string() } else { values.join(" ") });
    }

    /// What a command reads.
    fn redirect_input(&mut self, redirects: &[Redirect], mut input: Output) -> Output {
        for redirect in redirects {
            match redirect {
                Redirect::Text(word) => input = self.output_of(word),
                Redirect::From(word) => {
                    let path = self.expand(word).join(" ");
                    self.dev_tcp(&path);
                    input = match self.world.files.content(&path) {
                        Some(text) => Output::Text(text),
                        None => self.world.files.unreadable(&path).unwrap_or(Output::Unknown),
                    };
                }
                Redirect::To(_) => {}
            }
        }
        input
    }

    fn output_of(&mut self, word: &Word) -> Output {
        let text = self.expand_whole(word);
        if text.contains(UNKNOWN) && text.chars().all(|c| c == UNKNOWN || c.is_whitespace()) {
            return Output::Unknown;
        }
        Output::Text(text)
    }

    /// What a command writes, and where to.
    fn redirect_output(&mut self, redirects: &[Redirect], mut output: Output) -> Output {
        for redirect in redirects {
            if let Redirect::To(word) = redirect {
                let path = self.expand(word).join(" ");
                self.dev_tcp(&path);
                let out = std::mem::replace(&mut output, Output::none());
                if !path.starts_with("/dev/") {
                    self.world.files.write(&path, out);
                }
            }
        }
        output
    }

    fn dev_tcp(&mut self, path: &str) {
        if let Some(raw) = dev_tcp(path) {
            self.report(raw);
        }
    }
}

/// `/dev/tcp/HOST/PORT`
fn dev_tcp(path: &str) -> Option<Raw> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    let host = super::hosts::bare(rest);
    if host.as_deref().is_some_and(super::hosts::is_here) {
        return None;
    }
    Some(Raw::new(Kind::DevTcp, "the shell's own socket", path).hosts(host.into_iter().collect()))
}

/// Whether a file is of a kind that is run.
pub(crate) fn is_program_file(world: &World, name: &str) -> bool {
    world.files.content(name).is_some_and(|content| files::language(name, &content) != Language::Text)
}

/// Whether running a file would be a violation.
pub(crate) fn would_violate(world: &mut World, name: &str) -> bool {
    let mut shell = Shell::new(world);
    let found = interpreters::examine(&mut shell, name, None).unwrap_or_default();
    found.iter().any(|raw| raw.level == Level::Violation)
}

/// What a file would do that nothing has run.
pub(crate) fn unrun(world: &mut World, name: &str) -> Option<Vec<Raw>> {
    let mut shell = Shell::new(world);
    if shell.world.files.get_mut(name)?.ran {
        return None;
    }
    interpreters::examine(&mut shell, name, None)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Script,
    Parenthesis,
    Brace,
}

struct Cursor<'t> {
    tokens: &'t [Token],
    nested: usize,
}

impl<'t> Cursor<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.first()
    }

    fn next(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    /// Whether `(` is followed by `)`.
    fn closes_at_once(&self) -> bool {
        self.tokens.get(1) == Some(&Token::Operator(Operator::Close))
    }
}

#[cfg(test)]
mod tests;
