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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn canonical_form() {
        for (text, expected) in [
            ("API.Example.COM", "api.example.com"),
            ("api.example.com.", "api.example.com"),
            ("localhost", "localhost"),
            ("a--b.example", "a--b.example"),
            ("1password.com", "1password.com"),
            ("1.2.3.example", "1.2.3.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("0x.example", "0x.example"),
            ("a.0y", "a.0y"),
        ] {
            assert_eq!(Name::parse(text).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn what_is_no_name() {
        use InvalidName::*;
        let long_label = "a".repeat(64);
        let long_name = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(62)].join(".");
        for (text, expected) in [
            ("", Empty),
            (".", Empty),
            ("..", EmptyLabel),
            (".a", EmptyLabel),
            ("a..b", EmptyLabel),
            ("a.b..", EmptyLabel),
            ("-a.b", Hyphen),
            ("a-.b", Hyphen),
            ("a_b", Byte(b'_')),
            ("*.a", Byte(b'*')),
            ("a b", Byte(b' ')),
            ("a\0.b", Byte(0)),
            ("a:80", Byte(b':')),
            ("b\u{fc}cher", Byte(0xc3)),
            ("127.0.0.1", Address),
            ("1", Address),
            ("0x7f.1", Address),
            ("a.0x7F", Address),
            ("a.0X", Address),
            ("a.1.", Address),
            (&long_label, LongLabel),
            (&long_name, TooLong),
        ] {
            assert_eq!(Name::parse(text), Err(expected), "{text:?}");
        }
        assert!(Name::parse(long_name.get(1..).unwrap()).is_ok(), "253 octets are a name");
    }

    #[test]
    fn people_write_unicode() {
        for (text, expected) in [
            ("b\u{fc}cher.example", Some("xn--bcher-kva.example")),
            ("B\u{dc}CHER.example", Some("xn--bcher-kva.example")),
            ("b\u{fc}cher\u{3002}example", Some("xn--bcher-kva.example")),
            ("\u{ff41}pi.example", Some("api.example")),
            ("a\u{200d}.example", None),
            ("\u{e9}_.example", None),
            ("\u{ff11}\u{ff12}\u{ff17}.0.0.1", None),
        ] {
            assert_eq!(Name::parse_unicode(text).ok().as_ref().map(Name::as_str), expected, "{text:?}");
        }
    }

    proptest! {
        /// G16: any text is a name in canonical form, or refused; and no name reads as an IP address.
        #[test]
        fn any_text(text in prop_oneof![any::<String>(), "[a-zA-Z0-9.x_-]{0,20}"]) {
            for name in [Name::parse(&text), Name::parse_unicode(&text)].into_iter().flatten() {
                let again = Name::parse(name.as_str());
                prop_assert_eq!(again.as_ref(), Ok(&name));
                prop_assert!(name.as_str().parse::<std::net::IpAddr>().is_err());
                prop_assert!(!name.as_str().bytes().any(|byte| byte.is_ascii_uppercase()));
            }
        }
    }
}
