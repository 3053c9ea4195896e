//! Source text, divided into code and string literals.

use std::ops::Range;

use super::super::decode;

/// So much of a call's parentheses is read, literals not counted.
const LONGEST_GROUP: usize = 4096;

/// A source.
pub(super) struct Source {
    /// The code without comments, with the literals in double quotes, put together where the source does so.
    pub(super) flat: String,
    /// The literals as they stand in `flat`.
    pub(super) literals: Vec<Literal>,
}

/// A string literal.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    /// Where its quote stands in `flat`.
    pub(super) at: usize,
    pub(super) value: String,
    /// It goes over several lines in quotes that few languages let do so: perhaps it is no literal.
    pub(super) broken: bool,
    /// It stands in backquotes.
    pub(super) backquoted: bool,
}

enum Piece {
    Code(String),
    Literal { value: String, broken: bool, backquoted: bool },
}

impl Source {
    pub(super) fn read(code: &str) -> Source {
        let mut pieces = Vec::new();
        Reader { rest: code, line_start: true, pieces: &mut pieces }.run();
        let mut source = Source { flat: String::with_capacity(code.len()), literals: Vec::new() };
        let mut pending: Option<(String, bool, bool)> = None;
        for piece in pieces {
            match piece {
                Piece::Literal { value, broken, backquoted } => match &mut pending {
                    Some((held, held_broken, held_backquoted)) => {
                        held.push_str(&value);
                        *held_broken |= broken;
                        *held_backquoted |= backquoted;
                    }
                    None => pending = Some((value, broken, backquoted)),
                },
                // `"a" + "b"`, `"a" . "b"`, `"a" "b"`
                Piece::Code(code)
                    if pending.is_some()
                        && matches!(code.trim(), "" | "+" | "." | ".." | "&" | "<>" | "~") => {}
                Piece::Code(code) => {
                    source.literal(pending.take(), code.starts_with("[::-1]"));
                    source.flat.push_str(&code);
                }
            }
        }
        source.literal(pending, false);
        source
    }

    fn literal(&mut self, literal: Option<(String, bool, bool)>, reversed: bool) {
        let Some((value, broken, backquoted)) = literal else { return };
        let value = if reversed { value.chars().rev().collect() } else { value };
        let at = self.flat.len();
        self.flat.push('"');
        self.flat.push_str(&value);
        self.flat.push('"');
        self.literals.push(Literal { at, value, broken, backquoted });
    }

    /// The literal that holds a place.
    fn inside_literal(&self, at: usize) -> bool {
        let index = self.literals.partition_point(|literal| literal.at <= at);
        let before = index.checked_sub(1).and_then(|index| self.literals.get(index));
        before.is_some_and(|literal| at < literal.at + literal.value.len() + 2)
    }

    /// Where a name stands as a word of the code.
    pub(super) fn code_matches<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.flat.match_indices(name).map(|(at, _)| at).filter(move |at| {
            let before = self.flat.get(..*at).and_then(|text| text.chars().next_back());
            let after = self.flat.get(at + name.len()..).and_then(|text| text.chars().next());
            let starts = match before {
                _ if !name.starts_with(is_word) => true,
                // `a.b.urlopen(` is `urlopen(`; `cursor.fetch(` and `platform.system(` are something else.
                Some('.') => name.len() >= 8 || name.contains('.'),
                Some(c) => !is_word(c),
                None => true,
            };
            let ends = !name.ends_with(is_word) || !after.is_some_and(is_word);
            starts && ends && !self.inside_literal(*at)
        })
    }

    /// Whether the source has a function of its own by this name.
    pub(super) fn defines(&self, name: &str) -> bool {
        let plain = name.trim_end_matches('(');
        self.flat.match_indices(plain).take(1000).any(|(at, _)| {
            let before = self.flat.get(..at).unwrap_or_default().trim_end();
            let after = self.flat.get(at + plain.len()..).unwrap_or_default().trim_start();
            ["def", "function", "func", "fn"].iter().any(|word| before.ends_with(word))
                || ["<- function", "= function", "<-function", "=function"]
                    .iter()
                    .any(|form| after.starts_with(form))
        })
    }

    /// Where a text stands that holds literals itself.
    pub(super) fn any_match(&self, text: &str) -> Option<usize> {
        self.flat.find(text).filter(|at| !self.inside_literal(*at))
    }

    /// What stands in the parentheses of a call; to the line's end if it has none.
    pub(super) fn group(&self, at: usize, name: &str) -> Range<usize> {
        let start = at + name.len();
        let rest = self.flat.get(start..).unwrap_or_default();
        let open = name.ends_with('(') || rest.trim_start().starts_with('(');
        let mut depth = usize::from(name.ends_with('('));
        let mut literal = self.literals.partition_point(|literal| literal.at < start);
        let mut place = start;
        // Parentheses that nothing closes end somewhere.
        for _ in 0..LONGEST_GROUP {
            if let Some(found) = self.literals.get(literal).filter(|literal| literal.at == place) {
                place += found.value.len() + 2;
                literal += 1;
                continue;
            }
            let Some(c) = self.flat.get(place..).and_then(|rest| rest.chars().next()) else { break };
            match c {
                '(' => depth += 1,
                ')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return start..place;
                    }
                }
                '\n' if !open => return start..place,
                _ => {}
            }
            place += c.len_utf8();
        }
        start..place.min(self.flat.len())
    }

    /// The literals in a part of `flat`.
    pub(super) fn literals_in(&self, part: Range<usize>) -> Vec<String> {
        let first = self.literals.partition_point(|literal| literal.at < part.start);
        let last = self.literals.partition_point(|literal| literal.at < part.end);
        let inside = self.literals.get(first..last).unwrap_or_default();
        inside.iter().take(200).map(|literal| literal.value.clone()).collect()
    }

    /// Where something of a module is used after it was brought in.
    pub(super) fn uses(&self, name: &str, after: usize) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        self.code_matches(name).find(|at| {
            let rest = self.flat.get(at + name.len()..).unwrap_or_default();
            let member = rest
                .strip_prefix('.')
                .or_else(|| rest.strip_prefix("::"))
                .or_else(|| rest.strip_prefix("->"));
            match member {
                Some(member) => *at > after && !member.starts_with("__") && member.starts_with(is_word),
                None => *at > after && rest.trim_start().starts_with('('),
            }
        })
    }

    /// The function whose parentheses hold a place.
    pub(super) fn function_around(&self, at: usize) -> Option<String> {
        let before = self.flat.get(..at)?;
        let mut depth = 0usize;
        for (place, c) in before.char_indices().rev().take(400) {
            if self.inside_literal(place) {
                continue;
            }
            match c {
                ')' => depth += 1,
                '(' if depth > 0 => depth -= 1,
                '(' => {
                    let name = before.get(..place)?.trim_end();
                    let length: usize = name
                        .chars()
                        .rev()
                        .take_while(|c| is_word(*c) || matches!(c, '.' | ':' | '$' | '!'))
                        .map(char::len_utf8)
                        .sum();
                    let name = name.get(name.len() - length..)?;
                    return (!name.is_empty()).then(|| name.to_owned());
                }
                '{' | '}' | ';' if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Reader<'a, 'p> {
    rest: &'a str,
    line_start: bool,
    pieces: &'p mut Vec<Piece>,
}

impl<'a> Reader<'a, '_> {
    fn code(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Code(held)) => held.push_str(text),
            _ => self.pieces.push(Piece::Code(text.to_owned())),
        }
    }

    fn advance(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn line(&self) -> usize {
        self.rest.find('\n').unwrap_or(self.rest.len())
    }

    /// Whether what was read last takes a `#` into itself: `$#array`, `this.#field`.
    fn goes_on(&self) -> bool {
        matches!(self.pieces.last(), Some(Piece::Code(code)) if code.ends_with(['$', '.']))
    }

    fn run(&mut self) {
        // Once a quote finds no partner, no later one of its kind does.
        let mut unclosed: Vec<&str> = Vec::new();
        while let Some(c) = self.rest.chars().next() {
            let at_start = self.line_start;
            self.line_start = c == '\n' || (at_start && c.is_whitespace());
            match c {
                '#' if !self.rest.starts_with("#include") && !self.goes_on() => {
                    let length = self.line();
                    self.advance(length);
                }
                '/' if at_start && self.rest.starts_with("//") => {
                    let length = self.line();
                    self.advance(length);
                }
                '/' if at_start && self.rest.starts_with("/*") => {
                    let length = self.rest.find("*/").map_or(self.rest.len(), |end| end + 2);
                    self.advance(length);
                }
                '"' | '\'' | '`' => {
                    let triple = ["\"\"\"", "'''"].into_iter().find(|quote| self.rest.starts_with(quote));
                    let single = match c {
                        '"' => "\"",
                        '\'' => "'",
                        _ => "`",
                    };
                    let quote = triple.unwrap_or(single);
                    if unclosed.contains(&quote) || !self.literal(quote) {
                        unclosed.push(quote);
                        let text = self.advance(quote.len());
                        self.code(text);
                    }
                }
                'c' if self.rest.starts_with("chr(") => self.character(),
                _ if c.is_ascii_digit() => self.numbers(),
                _ => {
                    let length = self
                        .rest
                        .char_indices()
                        .skip(1)
                        .find(|(_, c)| {
                            matches!(c, '"' | '\'' | '`' | '#' | '/' | '\n' | 'c') || c.is_ascii_digit()
                        })
                        .map_or(self.rest.len(), |(at, _)| at);
                    let text = self.advance(length);
                    if text.chars().any(|c| !c.is_whitespace()) {
                        self.line_start =
                            text.rsplit_once('\n').is_some_and(|(_, tail)| tail.trim().is_empty());
                    }
                    self.code(text);
                }
            }
        }
    }

    /// Takes a literal; `false` when nothing closes it.
    fn literal(&mut self, quote: &str) -> bool {
        let body = self.rest.get(quote.len()..).unwrap_or_default();
        let mut from = 0;
        let end = loop {
            let Some(found) = body.get(from..).and_then(|text| text.find(quote)) else { return false };
            let at = from + found;
            let slashes =
                body.get(..at).unwrap_or_default().bytes().rev().take_while(|b| *b == b'\\').count();
            if slashes % 2 == 0 {
                break at;
            }
            from = at + quote.len();
        };
        let raw = body.get(..end).unwrap_or_default();
        let value = if raw.contains('\\') { decode::escapes(raw) } else { raw.to_owned() };
        let broken = quote.len() == 1 && quote != "`" && raw.contains('\n');
        self.advance(quote.len() * 2 + end);
        // A prefix such as `f`, `b`, `rb` belongs to the literal: it must not keep two apart.
        if let Some(Piece::Code(code)) = self.pieces.last_mut() {
            let letters = code.chars().rev().take_while(|c| c.is_alphabetic()).count();
            if (1..=2).contains(&letters) && code.chars().rev().take(letters).all(|c| "rbfuRBFU".contains(c))
            {
                let before = code.chars().rev().nth(letters);
                if !before.is_some_and(|c| is_word(c) || c == '.') {
                    code.truncate(code.len() - letters);
                }
            }
        }
        self.pieces.push(Piece::Literal { value, broken, backquoted: quote == "`" });
        true
    }

    /// `chr(99)` is a literal of one character.
    fn character(&mut self) {
        // No code has more digits, and a parenthesis far away is another's.
        let body = self.rest.get(4..self.rest.len().min(16)).unwrap_or_default();
        let code = body
            .split_once(')')
            .and_then(|(digits, _)| digits.trim().parse::<u32>().ok())
            .and_then(char::from_u32);
        match (code, body.find(')').map(|end| end + 4)) {
            (Some(c), Some(end)) => {
                self.advance(end + 1);
                self.pieces.push(Piece::Literal { value: c.into(), broken: false, backquoted: false });
            }
            _ => {
                let text = self.advance(1);
                self.code(text);
            }
        }
    }

    /// A row of character codes, as `bytes([99, 117, 114, 108])` has it, is a literal too.
    fn numbers(&mut self) {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, ',' | ' ')))
            .unwrap_or(self.rest.len());
        let text = self.advance(end.max(1));
        if text.len() > 9 {
            let codes: Option<Vec<char>> = text
                .split(',')
                .map(|code| {
                    code.trim()
                        .parse::<u32>()
                        .ok()
                        .filter(|code| (9..127).contains(code))
                        .and_then(char::from_u32)
                })
                .collect();
            if let Some(codes) = codes.filter(|codes| codes.len() >= 4) {
                self.pieces.push(Piece::Literal {
                    value: codes.into_iter().collect(),
                    broken: false,
                    backquoted: false,
                });
                return;
            }
        }
        self.code(text);
    }
}
