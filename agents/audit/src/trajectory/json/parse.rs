//! Text to tree. Total: every text gives a tree or a fault with its place.

use std::borrow::Cow;

use super::Json;

/// Deeper values are refused: what walks the tree calls itself.
const DEEPEST: usize = 200;

/// Why a text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The byte.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// Reads one value, with nothing but white space around it.
pub(crate) fn parse(text: &str) -> Result<Json<'_>, Fault> {
    let (value, end) = parse_prefix(text)?;
    match text.as_bytes().get(end..).and_then(|rest| rest.iter().position(|b| !is_space(*b))) {
        Some(more) => Err(Fault { at: end + more, what: "text after the end of the JSON value" }),
        None => Ok(value),
    }
}

/// Reads the first value, and says where it ends.
fn parse_prefix(text: &str) -> Result<(Json<'_>, usize), Fault> {
    let mut parser = Parser { text, at: 0 };
    parser.space();
    let value = parser.value(0)?;
    Ok((value, parser.at))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn fault<T>(&self, what: &'static str) -> Result<T, Fault> {
        Err(Fault {
            at: self.at,
            what: if self.at >= self.text.len() { "the text ends within a JSON value" } else { what },
        })
    }

    fn take(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.fault(what)
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, Fault> {
        if depth > DEEPEST {
            return self.fault("values are nested too deeply (more than 200)");
        }
        match self.peek() {
            Some(b'{') => self.table(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b't') => self.word("true", Json::Boolean(true)),
            Some(b'f') => self.word("false", Json::Boolean(false)),
            Some(b'n') => self.word("null", Json::Null),
            // Python writes these, and reads them.
            Some(b'N') => self.word("NaN", Json::Number("NaN")),
            Some(b'I') => self.word("Infinity", Json::Number("Infinity")),
            Some(b'-') if self.rest().starts_with("-Infinity") => {
                self.word("-Infinity", Json::Number("-Infinity"))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.fault("expected a JSON value"),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, Fault> {
        if self.rest().starts_with(word) {
            self.at += word.len();
            return Ok(value);
        }
        self.fault("expected a JSON value")
    }

    fn number(&mut self) -> Result<Json<'a>, Fault> {
        let start = self.at;
        self.skip(b'-');
        if !self.skip(b'0') && self.digits() == 0 {
            return self.fault("expected a digit");
        }
        if self.skip(b'.') && self.digits() == 0 {
            return self.fault("expected a digit after the point");
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _ = self.skip(b'+') || self.skip(b'-');
            if self.digits() == 0 {
                return self.fault("expected a digit in the exponent");
            }
        }
        Ok(Json::Number(self.text.get(start..self.at).unwrap_or_default()))
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn list(&mut self, depth: usize) -> Result<Json<'a>, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.skip(b']') {
            return Ok(Json::List(items));
        }
        loop {
            self.space();
            items.push(self.value(depth + 1)?);
            self.space();
            if self.skip(b']') {
                return Ok(Json::List(items));
            }
            self.take(b',', "expected `,` or `]`")?;
        }
    }

    fn table(&mut self, depth: usize) -> Result<Json<'a>, Fault> {
        self.at += 1;
        let mut fields = Vec::new();
        self.space();
        if self.skip(b'}') {
            return Ok(Json::Table(fields));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return self.fault("expected a field name in quotes");
            }
            let key = self.string()?;
            self.space();
            self.take(b':', "expected `:`")?;
            self.space();
            fields.push((key, self.value(depth + 1)?));
            self.space();
            if self.skip(b'}') {
                return Ok(Json::Table(fields));
            }
            self.take(b',', "expected `,` or `}`")?;
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let mut owned: Option<String> = None;
        loop {
            let start = self.at;
            let rest = self.text.as_bytes().get(start..).unwrap_or_default();
            let length = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
            self.at += length;
            let plain = self.text.get(start..self.at).unwrap_or_default();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match owned {
                        None => Cow::Borrowed(plain),
                        Some(mut text) => {
                            text.push_str(plain);
                            Cow::Owned(text)
                        }
                    });
                }
                Some(b'\\') => {
                    let text = owned.get_or_insert_default();
                    text.push_str(plain);
                    self.at += 1;
                    let escaped = self.escape()?;
                    text.push(escaped);
                }
                _ => return self.fault("a control character in a string must be escaped"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return self.fault("an unknown escape in a string"),
        };
        self.at += 1;
        Ok(c)
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let high = self.hex()?;
        if (0xd800..0xdc00).contains(&high) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let low = self.hex()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).unwrap_or_default();
        if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return self.fault("expected four hexadecimal digits");
        }
        let code =
            digits.iter().fold(0, |code, digit| code * 16 + char::from(*digit).to_digit(16).unwrap_or(0));
        self.at += 4;
        Ok(code)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
