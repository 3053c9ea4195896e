//! A shell script to tokens. Total: every text gives tokens, also one that no shell would take.

mod redirects;
mod token;
mod words;

pub(crate) use token::{Operator, Part, Redirect, Token, Word};

/// Reads a script.
pub(crate) fn tokens(script: &str) -> Vec<Token> {
    let mut lexer = Lexer { rest: script, tokens: Vec::new(), pending: Vec::new() };
    lexer.run();
    lexer.tokens
}

/// The parts of a text in which only `$` and backquotes count, as in a here-document.
pub(crate) fn template(text: &str) -> Word {
    let mut lexer = Lexer { rest: text, tokens: Vec::new(), pending: Vec::new() };
    let mut word = Word::default();
    lexer.double_quoted(&mut word, false);
    word
}

struct Lexer<'a> {
    rest: &'a str,
    tokens: Vec<Token>,
    /// Here-documents whose text begins at the next line: where their token stands, what ends them, how.
    pending: Vec<Pending>,
}

struct Pending {
    token: usize,
    end: String,
    literal: bool,
    tabs: bool,
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
        Some(c)
    }

    fn skip(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn operator(&mut self, operator: Operator) {
        self.tokens.push(Token::Operator(operator));
    }

    fn run(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                '\n' => {
                    self.next();
                    self.operator(Operator::Separator);
                    self.here_documents();
                }
                c if c.is_whitespace() => {
                    self.next();
                }
                '\\' if self.skip("\\\n") || self.skip("\\\r\n") => {}
                '#' => self.comment(),
                ';' => {
                    while self.skip(";") {}
                    self.operator(Operator::Separator);
                }
                '&' if self.skip("&>>") || self.skip("&>") => self.redirect(Redirect::To),
                '&' => {
                    while self.skip("&") {}
                    self.operator(Operator::Separator);
                }
                '|' if self.skip("||") => self.operator(Operator::Separator),
                '|' => {
                    self.next();
                    self.skip("&");
                    self.operator(Operator::Pipe);
                }
                '(' => {
                    self.next();
                    self.operator(Operator::Open);
                }
                ')' => {
                    self.next();
                    self.operator(Operator::Close);
                }
                '<' | '>' if !self.rest.starts_with("<(") && !self.rest.starts_with(">(") => self.angle(),
                _ => {
                    let word = self.word();
                    // `2>` is a descriptor, not a word.
                    let descriptor = matches!(self.peek(), Some('<' | '>'))
                        && word.bare().is_some_and(|text| {
                            text.chars().all(|c| c.is_ascii_digit())
                                || (text.starts_with('{') && text.ends_with('}'))
                        });
                    if !descriptor {
                        self.tokens.push(Token::Word(word));
                    }
                }
            }
        }
        self.here_documents();
    }

    fn comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.rest = self.rest.get(end..).unwrap_or_default();
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|c| c == ' ' || c == '\t') || self.skip("\\\n") {
            if self.peek().is_some_and(|c| c == ' ' || c == '\t') {
                self.next();
            }
        }
    }
}

#[cfg(test)]
mod tests;
