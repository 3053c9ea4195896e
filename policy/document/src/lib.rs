//! Documents that people write, read into one tree in which every value and every key knows where it stands.
//!
//! Policies, agent tables and the settings of agent CLIs come in four syntaxes. What is said about them (a fault, a
//! setting that counts, one that is ignored) names the line, so the tree keeps positions whichever syntax it was.
//!
//! Pure: text in, tree out. Sizes and depths are bounded, so that no text can take memory or stack without limit.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

mod fault;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod json;
mod jsonc;
mod node;
mod place;
mod toml;
mod yaml;

pub use fault::{Syntax, Unreadable};
pub use node::{Key, Node, Value};
pub use place::Place;

/// A document of this size already holds some 30,000 lines.
pub const LONGEST: usize = 1 << 20;

/// What of the deepest values is kept: deeper ones are [`Value::Other`].
const DEEPEST: usize = 64;

/// A byte order mark says nothing in UTF-8, and editors leave it without showing it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.0.
    Toml,
    /// JSON (RFC 8259), nothing more.
    Json,
    /// JSON with `//` and `/* */` comments and commas after the last item, as editors' settings have it.
    Jsonc,
    /// YAML 1.2, one document.
    Yaml,
}

impl Format {
    /// The format's name, for people.
    pub fn title(self) -> &'static str {
        match self {
            Format::Toml => "TOML",
            Format::Json => "JSON",
            Format::Jsonc => "JSON with comments",
            Format::Yaml => "YAML",
        }
    }

    /// Reads a document. A byte order mark at its beginning is passed over.
    pub fn read(self, source: &str) -> Result<Node, Unreadable> {
        let source = bounded(source)?;
        match self {
            Format::Toml => toml::parse(source),
            Format::Json => json::parse(source),
            Format::Jsonc => jsonc::parse(source),
            Format::Yaml => yaml::parse(source),
        }
    }

    /// Reads all documents of a text. YAML separates them with `---`; the other syntaxes have one.
    pub fn read_all(self, source: &str) -> Result<Vec<Node>, Unreadable> {
        match self {
            Format::Yaml => yaml::parse_all(bounded(source)?),
            _ => Ok(vec![self.read(source)?]),
        }
    }

    /// Reads bytes, which may be no text at all.
    pub fn read_bytes(self, bytes: &[u8]) -> Result<Node, Unreadable> {
        let text = str::from_utf8(bytes)
            .map_err(|error| Unreadable { at: error.valid_up_to(), what: Syntax::NotUtf8 })?;
        self.read(text)
    }
}

fn bounded(source: &str) -> Result<&str, Unreadable> {
    if source.len() > LONGEST {
        return Err(Unreadable { at: 0, what: Syntax::TooLarge { length: source.len(), longest: LONGEST } });
    }
    Ok(source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source))
}

#[cfg(test)]
mod tests;
