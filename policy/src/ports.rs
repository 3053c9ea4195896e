//! The ports of an entry.

use std::fmt;

use thiserror::Error;

/// A set of TCP ports, never empty, never holding port 0.
///
/// Written as ports and ranges separated by commas, or `*` for all. Kept sorted and merged, so two texts with the
/// same meaning are equal: `443,80`, `80,443` and `80,443,443` are one value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ports(Box<[Range]>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Range {
    first: u16,
    last: u16,
}

/// Why a text is not a list of ports.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidPorts {
    /// Nothing between two commas, or nothing at all.
    #[error("a port is missing")]
    Empty,
    /// Not a decimal number without sign or leading zero.
    #[error("{0:?} is not a port")]
    NotANumber(String),
    /// A number that is no TCP port.
    #[error("port {0} is not between 1 and 65535")]
    OutOfRange(String),
    /// A range whose end lies before its start.
    #[error("the range {first}-{last} runs backwards")]
    Reversed {
        /// The port before the hyphen.
        first: u16,
        /// The port after the hyphen.
        last: u16,
    },
}

impl Ports {
    /// Reads `80`, `80,443`, `8000-8100,9000` or `*`.
    pub fn parse(text: &str) -> Result<Self, InvalidPorts> {
        if text == "*" {
            return Ok(Self::all());
        }
        text.split(',').map(Range::parse).collect::<Result<Vec<_>, _>>().map(Self::merge)
    }

    /// 80 and 443: what an entry without ports means.
    pub fn web() -> Self {
        Self([80, 443].map(Range::one).into())
    }

    /// Every port.
    pub fn all() -> Self {
        Self([Range { first: 1, last: u16::MAX }].into())
    }

    /// Whether the port is in the set.
    pub fn contains(&self, port: u16) -> bool {
        self.0.iter().any(|range| (range.first..=range.last).contains(&port))
    }

    /// Whether this is every port.
    pub fn is_all(&self) -> bool {
        *self == Self::all()
    }

    /// The ports as inclusive ranges, ascending, with a gap between any two.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::RangeInclusive<u16>> + '_ {
        self.0.iter().map(|range| range.first..=range.last)
    }

    /// The ports of either.
    pub(crate) fn union(&self, other: &Ports) -> Ports {
        Self::merge([&*self.0, &*other.0].concat())
    }

    fn merge(mut ranges: Vec<Range>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut() {
                Some(last) if u32::from(range.first) <= u32::from(last.last) + 1 => {
                    last.last = last.last.max(range.last);
                }
                _ => merged.push(range),
            }
        }
        // Touching single ports stay readable: `80-81` rather than `80,81`; both texts mean this one value.
        Self(merged.into())
    }
}

impl Range {
    fn one(port: u16) -> Self {
        Self { first: port, last: port }
    }

    fn parse(text: &str) -> Result<Self, InvalidPorts> {
        let Some((first, last)) = text.split_once('-') else {
            return port(text).map(Self::one);
        };
        let (first, last) = (port(first)?, port(last)?);
        if first > last {
            return Err(InvalidPorts::Reversed { first, last });
        }
        Ok(Self { first, last })
    }
}

/// Strict on purpose: `+443`, `0443` and ` 443` are slips that another reader of the file may take otherwise.
pub(crate) fn port(text: &str) -> Result<u16, InvalidPorts> {
    if text.is_empty() {
        return Err(InvalidPorts::Empty);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) || (text.starts_with('0') && text.len() > 1) {
        return Err(InvalidPorts::NotANumber(text.chars().take(20).collect()));
    }
    match text.parse() {
        Ok(0) | Err(_) => Err(InvalidPorts::OutOfRange(text.chars().take(20).collect())),
        Ok(port) => Ok(port),
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all() {
            return f.write_str("*");
        }
        for (index, range) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            range.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        Ports::parse(text).unwrap().to_string()
    }

    #[test]
    fn spellings_of_one_set_are_one_value() {
        assert_eq!(canonical("443,80,443"), "80,443");
        assert_eq!(canonical("8001-8100,8000"), "8000-8100");
        assert_eq!(canonical("10-20,15-30,31"), "10-31");
        assert_eq!(canonical("1-65535"), "*");
        assert_eq!(canonical("1-30000,30001-65535"), "*");
        assert_eq!(canonical("65535,65534-65535"), "65534-65535");
        assert_eq!(canonical("80-80"), "80");
    }

    #[test]
    fn what_is_not_a_port_is_named() {
        let error = |text| Ports::parse(text).unwrap_err();
        for text in ["", ",", "80,", ",80", "80,,443", "-80", "80-"] {
            assert_eq!(error(text), InvalidPorts::Empty, "{text:?}");
        }
        for text in ["http", " 80", "80 ", "+80", "080", "8\u{661}", "80-443-500", "0x50", "80;443"] {
            assert!(matches!(error(text), InvalidPorts::NotANumber(_)), "{text:?}");
        }
        for text in ["0", "65536", "99999999999999999999999", "0-10"] {
            assert!(matches!(error(text), InvalidPorts::OutOfRange(_)), "{text:?}");
        }
        assert_eq!(error("443-80"), InvalidPorts::Reversed { first: 443, last: 80 });
    }

    #[test]
    fn contains_is_inclusive_at_both_ends() {
        let ports = Ports::parse("80,8000-8002").unwrap();
        let inside: Vec<u16> = (1..=u16::MAX).filter(|port| ports.contains(*port)).collect();
        assert_eq!(inside, [80, 8000, 8001, 8002]);
        assert!(!Ports::all().contains(0), "port 0 is no port");
    }
}
