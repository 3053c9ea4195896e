//! A script's lists, pipelines, groups and keywords, down to the single command.

use super::super::finding::{Kind, Raw};
use super::super::hosts::UNKNOWN;
use super::lex::{Operator, Token, Word};
use super::{Output, Shell};

/// What ends a list of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Script,
    Parenthesis,
    Brace,
}

/// The tokens that are left to read.
pub(super) struct Cursor<'t> {
    pub(super) tokens: &'t [Token],
    pub(super) nested: usize,
}

impl Shell<'_> {
    pub(super) fn list(&mut self, cursor: &mut Cursor<'_>, end: End, input: Output) -> Output {
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
