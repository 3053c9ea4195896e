//! Words: quotes, variables and substitutions, each to its own end.

use crate::trajectory::decode;

use super::{Lexer, Part, Word};

impl<'a> Lexer<'a> {
    pub(super) fn word(&mut self) -> Word {
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

    pub(super) fn double_quoted(&mut self, word: &mut Word, ends: bool) {
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
