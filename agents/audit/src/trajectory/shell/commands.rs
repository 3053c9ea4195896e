//! One command: what it is, after everything that only leads to it.

mod printing;
mod prints;
mod texts;
mod wrappers;

use super::super::finding::{Kind, Raw, excerpt};
use super::super::hosts::{self, UNKNOWN};
use super::files::base;
use super::lex::{Part, Word};
use super::{Output, Shell, examine, interpreters, network, packages, versions};

impl Shell<'_> {
    /// A command with the assignments before it.
    pub(super) fn words(&mut self, words: &[Word], input: Output) -> Output {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let Some(name) = assigned(word) else { break };
            let value = self.expand_whole(word);
            let value = value.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
            self.set(&name, value);
            rest = after;
        }
        let mut arguments = Vec::new();
        for word in rest {
            arguments.extend(self.expand(word));
        }
        self.command(&arguments, input)
    }

    /// A command whose words are known.
    pub(crate) fn command(&mut self, words: &[String], input: Output) -> Output {
        let Some((called, arguments)) = words.split_first() else { return Output::none() };
        if let Some(alias) = self.world.variables.get(&format!("alias {}", base(called))).cloned() {
            let line = format!("{alias} {}", joined(arguments));
            return self.run_within("alias", &line, input);
        }
        let name = base(called);
        let name = self::plain_name(name);
        if name.contains(UNKNOWN) || name.is_empty() {
            self.unknown_command(words);
            return Output::Unknown;
        }
        if name.contains(['*', '?', '['])
            && name.len() > 1
            && name != "[["
            && let Some(known) = network::matching(name)
        {
            let mut words = words.to_vec();
            if let Some(first) = words.first_mut() {
                *first = known.to_owned();
            }
            return self.command(&words, input);
        }
        if let Some(output) = self.printing(name, arguments, &input) {
            return output;
        }
        if let Some(rest) = wrappers::led_to(name, arguments) {
            return self.led(name, rest, input);
        }
        if let Some(output) = interpreters::run(self, name, arguments, &input) {
            return output;
        }
        if let Some(judged) = network::judge(name, arguments)
            .or_else(|| packages::judge(name, arguments))
            .or_else(|| versions::judge(name, arguments))
        {
            for raw in judged {
                self.report(raw);
            }
            return Output::Unknown;
        }
        if self.world.files.has(called) {
            examine::file(self, called, None);
        } else if !texts::is_text_command(name) {
            self.addresses(name, words);
            return Output::Unknown;
        }
        self.texts(words);
        Output::Unknown
    }

    /// Words that are given to a program that this scan knows nothing of.
    pub(super) fn addresses(&mut self, name: &str, words: &[String]) {
        let line = joined(words);
        if hosts::outside(&line).all(|url| hosts::is_namespace(url.text)) {
            return;
        }
        let raw = Raw::new(Kind::Url, format!("an address is given to `{name}`"), &line);
        self.report(raw.hosts(hosts::outside_hosts(&line)).likely());
    }

    fn unknown_command(&mut self, words: &[String]) {
        let line = joined(words);
        let line_hosts = hosts::outside_hosts(&line);
        if hosts::outside(&line).next().is_some() {
            let raw = Raw::new(Kind::Url, "an address is given to a command that can't be known", &line);
            self.report(raw.hosts(line_hosts).likely());
        }
    }

    /// Addresses that are only text here.
    fn texts(&mut self, words: &[String]) {
        let line = joined(words);
        if hosts::outside(&line).next().is_some() {
            let raw = Raw::new(Kind::Url, "an address that is only text", &line);
            self.report(raw.hosts(hosts::outside_hosts(&line)).text_only());
        }
    }
}

/// The name that an assignment sets.
fn assigned(word: &Word) -> Option<String> {
    let Part::Plain(text) = word.parts.first()? else { return None };
    let (name, _) = text.split_once('=')?;
    let plain = name.strip_suffix('+').unwrap_or(name);
    let plain = plain.split('[').next()?;
    is_name(plain).then(|| name.to_owned())
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `curl.exe` is `curl`.
fn plain_name(name: &str) -> &str {
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The words as a line, for people.
pub(super) fn joined(words: &[String]) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 64 << 10 {
            break;
        }
    }
    line
}

/// A command with its words, as an excerpt.
pub(super) fn line(name: &str, arguments: &[String]) -> String {
    excerpt(&format!("{name} {}", joined(arguments)))
}
