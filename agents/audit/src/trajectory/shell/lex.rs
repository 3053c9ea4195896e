//! A shell script to tokens. Total: every text gives tokens, also one that no shell would take.

use super::super::decode;

/// A piece of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Word(Word),
    Operator(Operator),
    Redirect(Redirect),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `;`, `&`, `&&`, `||`, `;;`, a line's end.
    Separator,
    /// `|`, `|&`.
    Pipe,
    Open,
    Close,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Redirect {
    /// `< FILE`
    From(Word),
    /// `> FILE`, `>> FILE`
    To(Word),
    /// `<< END`, `<<< TEXT`: the text.
    Text(Word),
}

/// A word, not yet expanded.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// Text outside quotes: braces and globs count, and spaces in a variable's value would split it.
    Plain(String),
    /// Text in quotes.
    Quoted(String),
    /// `$X`, `${X...}`: what stands between the braces.
    Variable { name: String, quoted: bool },
    /// `$(...)`, a pair of backquotes.
    Output { script: String, quoted: bool },
    /// `<(...)`, `>(...)`
    Process(String),
    /// `NAME=(...)`: what stands between the parentheses.
    Array(String),
}

impl Word {
    /// The word when it is plain text without quotes: only then is it a keyword.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }

    fn push(&mut self, c: char, quoted: bool) {
        match (self.parts.last_mut(), quoted) {
            (Some(Part::Plain(text)), false) | (Some(Part::Quoted(text)), true) => text.push(c),
            (_, false) => self.parts.push(Part::Plain(c.into())),
            (_, true) => self.parts.push(Part::Quoted(c.into())),
        }
    }

    fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Quoted(held)) => held.push_str(text),
            _ => self.parts.push(Part::Quoted(text.into())),
        }
    }
}

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

    fn redirect(&mut self, make: fn(Word) -> Redirect) {
        self.blanks();
        let word = self.word();
        self.tokens.push(Token::Redirect(make(word)));
    }

    fn angle(&mut self) {
        if self.skip("<<<") {
            return self.redirect(Redirect::Text);
        }
        if self.skip("<<") {
            return self.here_begin();
        }
        if self.skip("<>") {
            return self.redirect(Redirect::To);
        }
        if self.skip("<&") || self.skip(">&") {
            self.blanks();
            let word = self.word();
            // `>&FILE` is a file, `2>&1` and `>&-` are none.
            let descriptor = word
                .bare()
                .is_some_and(|text| text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit()));
            if !descriptor {
                self.tokens.push(Token::Redirect(Redirect::To(word)));
            }
            return;
        }
        if self.skip("<") {
            return self.redirect(Redirect::From);
        }
        let _ = self.skip(">>") || self.skip(">|") || self.skip(">");
        self.redirect(Redirect::To);
    }

    fn here_begin(&mut self) {
        let tabs = self.skip("-");
        self.blanks();
        let word = self.word();
        let mut end = String::new();
        let mut literal = false;
        for part in &word.parts {
            match part {
                Part::Plain(text) => end.push_str(text),
                Part::Quoted(text) => {
                    literal = true;
                    end.push_str(text);
                }
                Part::Variable { name, .. } => {
                    end.push('$');
                    end.push_str(name);
                }
                _ => {}
            }
        }
        self.pending.push(Pending { token: self.tokens.len(), end, literal, tabs });
        self.tokens.push(Token::Redirect(Redirect::Text(Word::default())));
    }

    /// Takes the texts of the here-documents that this line began.
    fn here_documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while !self.rest.is_empty() {
                let length = self.rest.find('\n').map_or(self.rest.len(), |end| end + 1);
                let (line, rest) = self.rest.split_at(length);
                self.rest = rest;
                let line = if pending.tabs { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches(['\n', '\r']) == pending.end {
                    break;
                }
                body.push_str(line);
            }
            let word =
                if pending.literal { Word { parts: vec![Part::Quoted(body)] } } else { template(&body) };
            if let Some(token) = self.tokens.get_mut(pending.token) {
                *token = Token::Redirect(Redirect::Text(word));
            }
        }
    }

    fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            match c {
                c if c.is_whitespace() => break,
                ';' | '&' | '|' | ')' => break,
                '(' => {
                    let names_array =
                        matches!(word.parts.as_slice(), [Part::Plain(text)] if text.ends_with('='));
                    if !names_array {
                        break;
                    }
                    self.next();
                    let inner = self.balanced('(', ')');
                    word.parts.push(Part::Array(inner));
                }
                '<' | '>' => {
                    if !(self.rest.starts_with("<(") || self.rest.starts_with(">(")) {
                        break;
                    }
                    self.next();
                    self.next();
                    let script = self.balanced('(', ')');
                    word.parts.push(Part::Process(script));
                }
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some(c) => word.push(c, true),
                    }
                }
                '\'' => {
                    self.next();
                    let text = self.until('\'');
                    word.push_text(text);
                }
                '"' => {
                    self.next();
                    word.push_text("");
                    self.double_quoted(&mut word, true);
                }
                '$' | '`' => self.dollar(&mut word, false),
                c => {
                    self.next();
                    word.push(c, false);
                }
            }
        }
        word
    }

    /// To the next such character, which is passed over; to the end if there is none.
    fn until(&mut self, end: char) -> &'a str {
        let (text, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        text
    }

    fn double_quoted(&mut self, word: &mut Word, ends: bool) {
        while let Some(c) = self.peek() {
            match c {
                '"' if ends => {
                    self.next();
                    return;
                }
                '\\' => {
                    self.next();
                    match self.peek() {
                        Some(c @ ('$' | '`' | '\\')) => {
                            self.next();
                            word.push(c, true);
                        }
                        Some('"') if ends => {
                            self.next();
                            word.push('"', true);
                        }
                        Some('\n') => {
                            self.next();
                        }
                        _ => word.push('\\', true),
                    }
                }
                '$' | '`' => self.dollar(word, true),
                c => {
                    self.next();
                    word.push(c, true);
                }
            }
        }
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) {
        if self.skip("`") {
            let mut script = String::new();
            while let Some(c) = self.next() {
                match c {
                    '`' => break,
                    '\\' if matches!(self.peek(), Some('`' | '\\' | '$')) => script.extend(self.next()),
                    c => script.push(c),
                }
            }
            word.parts.push(Part::Output { script, quoted });
        } else if self.skip("$((") {
            self.balanced('(', ')');
            self.skip(")");
            word.push('0', true);
        } else if self.skip("$(") {
            let script = self.balanced('(', ')');
            word.parts.push(Part::Output { script, quoted });
        } else if self.skip("${") {
            let name = self.balanced('{', '}');
            word.parts.push(Part::Variable { name, quoted });
        } else if !quoted && self.skip("$'") {
            let mut text = String::new();
            while let Some(c) = self.next() {
                match c {
                    '\'' => break,
                    '\\' => {
                        text.push('\\');
                        text.extend(self.next());
                    }
                    c => text.push(c),
                }
            }
            word.push_text(&decode::escapes(&text));
        } else if !quoted && self.skip("$\"") {
            self.double_quoted(word, true);
        } else {
            self.next();
            let name_end = match self.peek() {
                Some(c) if c.is_ascii_alphabetic() || c == '_' => self
                    .rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(self.rest.len()),
                Some('0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-') => 1,
                _ => 0,
            };
            if name_end == 0 {
                return word.push('$', quoted);
            }
            let (name, rest) = self.rest.split_at(name_end);
            self.rest = rest;
            word.parts.push(Part::Variable { name: name.into(), quoted });
        }
    }

    /// What stands before the closing character that belongs to one already passed; quotes are respected.
    fn balanced(&mut self, open: char, close: char) -> String {
        let start = self.rest;
        let mut depth = 0usize;
        while let Some(c) = self.next() {
            match c {
                '\\' => {
                    self.next();
                }
                '\'' => {
                    self.until('\'');
                }
                '"' => self.quoted_span(),
                // A comment may hold a quote that nothing closes.
                '#' if open == '(' && begins_comment(start, self.rest) => self.comment(),
                c if c == open => depth += 1,
                c if c == close => {
                    if depth == 0 {
                        let length = start.len() - self.rest.len() - close.len_utf8();
                        return start.get(..length).unwrap_or_default().to_owned();
                    }
                    depth -= 1;
                }
                _ => {}
            }
        }
        start.to_owned()
    }

    fn quoted_span(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => {
                    self.next();
                }
                _ => {}
            }
        }
    }
}

/// Whether the `#` that was just passed stands at the beginning of a word.
fn begins_comment(start: &str, rest: &str) -> bool {
    let at = start.len() - rest.len() - 1;
    let before = start.as_bytes().get(..at).and_then(<[u8]>::last);
    before.is_none_or(|b| b.is_ascii_whitespace() || *b == b';')
}

#[cfg(test)]
mod tests;
