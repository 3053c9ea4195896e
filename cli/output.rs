//! What goes to standard output.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};

use crate::exit::Failure;

/// Writes to standard output. A reader that has gone away (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::host(format!("can't write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one JSON document.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Writes one line at once; `false` when the reader has gone away.
pub(crate) fn print_line(line: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::host(format!("can't write to standard output: {error}"))),
    }
}

/// Whether colour makes sense.
pub(crate) fn is_colourful() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A text that a terminal shows and does not obey: what the task wrote may be in it.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing() {
        assert_eq!(harmless("plain \u{e4}"), "plain \u{e4}");
        assert_eq!(harmless("a\u{1b}[2Jb\nc\u{9b}"), "a\\u{1b}[2Jb\\nc\\u{9b}");
    }
}
