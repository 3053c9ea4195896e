//! Words as a shell expands them, with a mark for what can't be known.

use super::super::finding::{Kind, Raw};
use super::super::hosts::UNKNOWN;
use super::lex::{self, Part, Word};
use super::{LONGEST_VALUE, Output, Shell, TOO_MUCH};

/// Braces give at most so many words.
const MOST_WORDS: usize = 512;

impl Shell<'_> {
    /// The words that a word becomes.
    pub(super) fn expand(&mut self, word: &Word) -> Vec<String> {
        let mut fields = Fields { done: Vec::new(), current: None };
        let mut braces = false;
        for part in &word.parts {
            match part {
                Part::Plain(text) => {
                    braces |= text.contains('{') && text.contains('}');
                    fields.push(text);
                }
                Part::Quoted(text) => fields.push(text),
                Part::Array(inner) => {
                    let values = self.words_of(inner);
                    fields.push(&values.join(" "));
                }
                part => {
                    let quoted = matches!(
                        part,
                        Part::Variable { quoted: true, .. } | Part::Output { quoted: true, .. }
                    );
                    let value = self.value(part);
                    // An array's words stay apart in quotes too.
                    let whole = quoted
                        && !matches!(part, Part::Variable { name, .. } if name.ends_with("[@]") || name == "@");
                    if whole { fields.push(&value) } else { fields.split(&value) }
                }
            }
        }
        fields.done.extend(fields.current);
        if braces {
            let mut words = Vec::new();
            for word in &fields.done {
                let choices = self::braces(word);
                let cost = choices.iter().map(|choice| choice.len() + 32).sum();
                let enough = choices.len() <= 1 || choices.len() <= MOST_WORDS && self.spend(cost);
                if !enough {
                    self.report(Raw::new(Kind::Opaque, TOO_MUCH, word).likely());
                }
                words.extend(if enough { choices } else { vec![UNKNOWN.to_string()] });
            }
            words.truncate(MOST_WORDS);
            return words;
        }
        fields.done
    }

    /// The word as one text, as in an assignment.
    pub(super) fn expand_whole(&mut self, word: &Word) -> String {
        let mut text = String::new();
        for part in &word.parts {
            match part {
                Part::Plain(more) | Part::Quoted(more) => text.push_str(more),
                Part::Array(inner) => text.push_str(&self.words_of(inner).join(" ")),
                part => text.push_str(&self.value(part)),
            }
            if text.len() > LONGEST_VALUE {
                return UNKNOWN.to_string();
            }
        }
        text
    }

    fn words_of(&mut self, text: &str) -> Vec<String> {
        let read = |shell: &mut Self| {
            let mut words = Vec::new();
            for token in lex::tokens(text) {
                if let lex::Token::Word(word) = token {
                    words.extend(shell.expand(&word));
                }
            }
            words
        };
        self.within("", text.len(), read).unwrap_or_default()
    }

    fn value(&mut self, part: &Part) -> String {
        match part {
            Part::Plain(text) | Part::Quoted(text) | Part::Array(text) => text.clone(),
            Part::Variable { name, .. } => self.variable(name),
            Part::Output { script, .. } => {
                let text = self.run_within("", script, Output::none()).or_mark();
                text.trim_end_matches('\n').to_owned()
            }
            Part::Process(script) => {
                // What it prints is read as a file: `source <(...)`, `bash <(...)`.
                let output = self.run_within("", script, Output::none());
                self.world.files.pipe(output)
            }
        }
    }

    /// `${...}` with the forms that are used to hide words.
    fn variable(&mut self, expression: &str) -> String {
        // `${!x}` is the variable that `x` names.
        if let Some(pointer) = expression.strip_prefix('!') {
            let named = if pointer.starts_with('!') { String::new() } else { self.variable(pointer) };
            return self.known(&named).unwrap_or_else(|| UNKNOWN.to_string());
        }
        if matches!(expression, "@" | "*") {
            return self.known("@").unwrap_or_else(|| UNKNOWN.to_string());
        }
        let name_end =
            expression.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(expression.len());
        let (name, form) = expression.split_at(name_end);
        let form = form.strip_prefix("[@]").or_else(|| form.strip_prefix("[*]")).unwrap_or(form);
        let value = match name {
            "IFS" if !self.world.variables.contains_key("IFS") => Some(" \t\n".into()),
            name => self.known(name),
        };
        if form.is_empty() {
            return value.unwrap_or_else(|| UNKNOWN.to_string());
        }
        let fallback =
            ["-", "=", ":-", ":="].iter().find_map(|mark| form.strip_prefix(mark)).filter(|text| {
                // `${x:-3}` is a fallback, `${x: -3}` and `${x:3}` are parts.
                !text.is_empty()
            });
        match (value, fallback) {
            (Some(value), Some(_)) if !value.is_empty() => value,
            (_, Some(fallback)) => {
                let word = lex::template(fallback);
                self.within("", fallback.len(), |shell| shell.expand_whole(&word))
                    .unwrap_or_else(|| UNKNOWN.to_string())
            }
            (Some(value), None) => altered(&value, form).unwrap_or_else(|| UNKNOWN.to_string()),
            (None, None) => UNKNOWN.to_string(),
        }
    }
}

/// `${x:1:4}`, `${x/a/b}`, `${x//a/b}`, `${x#a}`, `${x%a}`, `${x,,}`.
fn altered(value: &str, form: &str) -> Option<String> {
    if form == ",," || form == "@L" {
        return Some(value.to_lowercase());
    }
    if form == "^^" || form == "@U" {
        return Some(value.to_uppercase());
    }
    if let Some(rest) = form.strip_prefix("//") {
        let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
        let plain = !from.is_empty() && !from.contains(['*', '?', '[', '$']) && !to.contains('$');
        let text = plain.then(|| value.replace(from, to))?;
        return (text.len() <= LONGEST_VALUE).then_some(text);
    }
    if let Some(rest) = form.strip_prefix('/') {
        let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
        return (!from.is_empty() && !from.contains(['*', '?', '['])).then(|| value.replacen(from, to, 1));
    }
    if let Some(rest) = form.strip_prefix(':') {
        let (start, length) =
            rest.split_once(':').map_or((rest, None), |(start, length)| (start, Some(length)));
        let start: usize = start.trim().parse().ok()?;
        let length: usize = match length {
            Some(length) => length.trim().parse().ok()?,
            None => usize::MAX,
        };
        return Some(value.chars().skip(start).take(length).collect());
    }
    let plain = |text: &str| !text.contains(['*', '?', '[', '$']);
    if let Some(prefix) = form.strip_prefix("##").or_else(|| form.strip_prefix('#')) {
        return plain(prefix).then(|| value.strip_prefix(prefix).unwrap_or(value).to_owned());
    }
    if let Some(suffix) = form.strip_prefix("%%").or_else(|| form.strip_prefix('%')) {
        return plain(suffix).then(|| value.strip_suffix(suffix).unwrap_or(value).to_owned());
    }
    None
}

struct Fields {
    done: Vec<String>,
    current: Option<String>,
}

impl Fields {
    fn push(&mut self, text: &str) {
        let current = self.current.get_or_insert_default();
        if current.len() + text.len() <= LONGEST_VALUE {
            current.push_str(text);
        }
    }

    fn split(&mut self, value: &str) {
        let mut first = true;
        if value.starts_with(char::is_whitespace) {
            self.done.extend(self.current.take());
        }
        for field in value.split_whitespace() {
            if !first {
                self.done.extend(self.current.take());
            }
            first = false;
            self.push(field);
        }
        if value.ends_with(char::is_whitespace) {
            self.done.extend(self.current.take());
        }
    }
}

/// `a{b,c}d` is `abd acd`. Ranges stay as they are.
fn braces(word: &str) -> Vec<String> {
    let mut pending = vec![word.to_owned()];
    let mut done = Vec::new();
    while let Some(word) = pending.pop() {
        if done.len() + pending.len() > MOST_WORDS {
            done.push(word);
            continue;
        }
        match first_brace(&word) {
            Some((before, choices, after)) => {
                pending.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{after}")));
            }
            None => done.push(word),
        }
    }
    done.retain(|word| !word.is_empty());
    done
}

fn first_brace(word: &str) -> Option<(&str, Vec<&str>, &str)> {
    let open = word.find('{')?;
    if word.get(..open)?.ends_with('$') {
        return None;
    }
    let mut depth = 0usize;
    let mut choices = Vec::new();
    let mut start = open + 1;
    for (at, c) in word.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '{' => depth += 1,
            ',' if depth == 1 => {
                choices.push(word.get(start..at)?);
                start = at + 1;
            }
            '}' => {
                depth -= 1;
                if depth == 0 {
                    choices.push(word.get(start..at)?);
                    return (choices.len() > 1).then_some((word.get(..open)?, choices, word.get(at + 1..)?));
                }
            }
            _ => {}
        }
    }
    None
}
