//! What a script is made of: words with their parts, operators, redirections.

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

    pub(super) fn push(&mut self, c: char, quoted: bool) {
        match (self.parts.last_mut(), quoted) {
            (Some(Part::Plain(text)), false) | (Some(Part::Quoted(text)), true) => text.push(c),
            (_, false) => self.parts.push(Part::Plain(c.into())),
            (_, true) => self.parts.push(Part::Quoted(c.into())),
        }
    }

    pub(super) fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Quoted(held)) => held.push_str(text),
            _ => self.parts.push(Part::Quoted(text.into())),
        }
    }
}
