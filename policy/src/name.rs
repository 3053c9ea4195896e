//! Host names: the only place where one is normalised.

use std::fmt;

use thiserror::Error;

/// A host name in its one canonical form: lower case, LDH labels, no trailing dot, never an IP literal.
///
/// At most 253 octets in labels of 1 to 63 (RFC 1035 section 2.3.4). International names are written in their
/// A-label form (`xn--…`, RFC 5890); [`Name::parse_unicode`] converts.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Box<str>);

/// Why a text is not a host name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidName {
    /// Nothing there, or a lone dot.
    #[error("the name is empty")]
    Empty,
    /// Over 253 octets.
    #[error("the name is longer than 253 octets")]
    TooLong,
    /// A leading dot, two dots in a row, or more than one trailing dot.
    #[error("the name has an empty label")]
    EmptyLabel,
    /// A label over 63 octets.
    #[error("a label is longer than 63 octets")]
    LongLabel,
    /// A label starts or ends with a hyphen (RFC 952, RFC 1123 section 2.1).
    #[error("a label starts or ends with a hyphen")]
    Hyphen,
    /// A byte that is not a letter, digit or hyphen. NUL, blanks, underscores and `*` are here.
    #[error("the name holds a byte that is not a letter, digit or hyphen: {0:#04x}")]
    Byte(u8),
    /// The last label is a number, so the whole would be read as an IPv4 address (WHATWG URL, "ends in a number").
    #[error("the name is an IP address, or would be read as one")]
    Address,
    /// Not a valid international name (UTS 46).
    #[error("the international name is not valid")]
    International,
}

impl Name {
    /// Reads a name as it stands on the wire (SNI, Host, DNS) or in a policy. One trailing dot is dropped.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let text = text.strip_suffix('.').unwrap_or(text);
        if text.is_empty() {
            return Err(InvalidName::Empty);
        }
        if text.len() > 253 {
            return Err(InvalidName::TooLong);
        }
        text.split('.').try_for_each(check_label)?;
        if text.rsplit('.').next().is_some_and(reads_as_number) {
            return Err(InvalidName::Address);
        }
        Ok(Self(text.to_ascii_lowercase().into()))
    }

    /// Reads a name that may hold non-ASCII letters, as a person writes it in a policy.
    pub fn parse_unicode(text: &str) -> Result<Self, InvalidName> {
        if text.is_ascii() {
            return Self::parse(text);
        }
        let ascii = idna::domain_to_ascii_strict(text).map_err(|_| InvalidName::International)?;
        Self::parse(&ascii)
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The labels, from the left.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.')
    }

    /// Whether this name lies below `suffix`: any depth, never `suffix` itself.
    ///
    /// Matched label by label, so `evilexample.org` is not below `example.org`.
    pub fn is_below(&self, suffix: &Name) -> bool {
        let mut mine = self.labels().rev();
        suffix.labels().rev().all(|label| mine.next() == Some(label)) && mine.next().is_some()
    }
}

fn check_label(label: &str) -> Result<(), InvalidName> {
    match label.as_bytes() {
        [] => Err(InvalidName::EmptyLabel),
        bytes if bytes.len() > 63 => Err(InvalidName::LongLabel),
        [b'-', ..] | [.., b'-'] => Err(InvalidName::Hyphen),
        bytes => match bytes.iter().find(|b| !b.is_ascii_alphanumeric() && **b != b'-') {
            Some(&byte) => Err(InvalidName::Byte(byte)),
            None => Ok(()),
        },
    }
}

/// `1`, `0x7f` and the like, which resolvers of the BSD family take for parts of an IPv4 address.
fn reads_as_number(label: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    digits(label) || label.strip_prefix("0x").or_else(|| label.strip_prefix("0X")).is_some_and(hex)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({})", self.0)
    }
}
