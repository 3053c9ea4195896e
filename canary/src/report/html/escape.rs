//! Text from anywhere, as text.

use std::fmt;

use crate::report::table::harmless;

/// A text that a browser shows and does not read: in content, and in attributes with quotes.
pub(super) struct Escaped<'a>(&'a str);

/// Escapes.
pub(super) fn esc(text: &str) -> Escaped<'_> {
    Escaped(text)
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in harmless(self.0).chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                _ => fmt::Write::write_char(f, character)?,
            }
        }
        Ok(())
    }
}
