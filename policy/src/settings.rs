//! What a policy says beside its allow lists.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use thiserror::Error;

use crate::cidr::canonical;
use crate::ports::port;
use crate::ranges::{self, Standing};
use crate::{Host, InvalidName, InvalidPorts, Name};

/// What holds in every phase of a policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) routes: BTreeMap<Name, RouteTarget>,
    pub(crate) ech: Ech,
    pub(crate) private: PrivateAddresses,
    pub(crate) dns_answers: DnsAnswers,
}

/// What a ClientHello with Encrypted Client Hello (RFC 9849) meets. `tls.ech` in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ech {
    /// `"outer-name"`: the visible name decides. Safe, since it is that name which is dialled.
    #[default]
    OuterName,
    /// `"refuse"`: refused. Refuses clients that only send GREASE too; the two can't be told apart.
    Refuse,
}

/// What holds for a permitted name that resolves to a private address. `resolve.private` in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrivateAddresses {
    /// `"refuse"`: dialled only where an entry or a route names the address.
    #[default]
    Refuse,
    /// `"allow"`: dialled.
    Allow,
}

/// What a DNS question for a permitted name gets. `dns.answers` in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DnsAnswers {
    /// `"synthetic"`: one made-up address per name, so that asking sends nothing anywhere.
    #[default]
    Synthetic,
    /// `"real"`: the addresses of the name, for clients that must see them.
    Real,
}

/// A setting whose value is one of a few words.
pub(crate) trait Words: Sized + Copy + 'static {
    /// The values with their words, the default first.
    const ALL: &'static [(&'static str, Self)];
}

impl Words for Ech {
    const ALL: &'static [(&'static str, Self)] = &[("outer-name", Ech::OuterName), ("refuse", Ech::Refuse)];
}

impl Words for PrivateAddresses {
    const ALL: &'static [(&'static str, Self)] =
        &[("refuse", PrivateAddresses::Refuse), ("allow", PrivateAddresses::Allow)];
}

impl Words for DnsAnswers {
    const ALL: &'static [(&'static str, Self)] =
        &[("synthetic", DnsAnswers::Synthetic), ("real", DnsAnswers::Real)];
}

/// The word of a setting's value.
pub(crate) fn word<T: Words + PartialEq>(value: T) -> &'static str {
    T::ALL.iter().find(|(_, candidate)| *candidate == value).map_or("", |(word, _)| word)
}

/// Where a permitted name is really dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteTarget {
    /// The host that is dialled instead.
    pub host: Host,
    /// The port that is dialled; the one the client aimed at where there is none.
    pub port: Option<u16>,
}

/// Why a text is not the target of a route.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidRouteTarget {
    /// A URL, a path, a user part, a wildcard, a block.
    #[error("a route leads to HOST or HOST:PORT, as in 10.0.0.5:8443")]
    Form,
    /// An IPv6 address with a port, or brackets that hold something else.
    #[error("an IPv6 address with a port is written in brackets, as in [fd00::5]:8443")]
    Bracket,
    /// Not a host name.
    #[error("{0}")]
    Name(#[from] InvalidName),
    /// Not one port.
    #[error("{0}")]
    Port(#[from] InvalidPorts),
    /// An address that is never dialled. Carries what it is.
    #[error("the address is never dialled: {0}")]
    NeverDialled(&'static str),
}

impl RouteTarget {
    /// Reads `HOST` or `HOST:PORT`; IPv6 with a port in brackets.
    pub fn parse(text: &str) -> Result<Self, InvalidRouteTarget> {
        if text.contains(['/', '@', '*', '?', '#']) || text.chars().any(char::is_whitespace) {
            return Err(InvalidRouteTarget::Form);
        }
        if let Ok(address) = text.parse() {
            return Self::to_address(address, None);
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, text)) if !text.ends_with(']') => (host, Some(port(text)?)),
            _ => (text, None),
        };
        if host.contains([':', '[', ']']) {
            let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            let address = inner.and_then(|inner| inner.parse().ok()).ok_or(InvalidRouteTarget::Bracket)?;
            return Self::to_address(IpAddr::V6(address), port);
        }
        match host.parse() {
            Ok(address) => Self::to_address(address, port),
            Err(_) => Ok(Self { host: Host::Name(Name::parse_unicode(host)?), port }),
        }
    }

    fn to_address(address: IpAddr, port: Option<u16>) -> Result<Self, InvalidRouteTarget> {
        match ranges::standing(address) {
            Standing::Never(what) => Err(InvalidRouteTarget::NeverDialled(what)),
            _ => Ok(Self { host: Host::Address(canonical(address)), port }),
        }
    }
}

impl fmt::Display for RouteTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, self.port) {
            (host, None) => host.fmt(f),
            (Host::Address(IpAddr::V6(address)), Some(port)) => write!(f, "[{address}]:{port}"),
            (host, Some(port)) => write!(f, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn route_targets_round_trip_in_one_form() {
        for (text, canonical) in [
            ("10.0.0.5:8443", "10.0.0.5:8443"),
            ("10.0.0.5", "10.0.0.5"),
            ("Gateway.Example.", "gateway.example"),
            ("gateway:4000", "gateway:4000"),
            ("fd00::5", "fd00::5"),
            ("[fd00::5]", "fd00::5"),
            ("[fd00:0::5]:8443", "[fd00::5]:8443"),
            ("[::ffff:10.0.0.5]:80", "10.0.0.5:80"),
        ] {
            let target = RouteTarget::parse(text).unwrap();
            assert_eq!(target.to_string(), canonical);
            assert_eq!(RouteTarget::parse(canonical), Ok(target));
        }
    }

    #[test]
    fn what_is_no_route_target_is_named() {
        use InvalidRouteTarget::*;
        let error = |text| RouteTarget::parse(text).unwrap_err();
        for text in ["https://a.example", "a.example/x", "u@a.example", "*.a.example", "10.0.0.0/8", "a b"] {
            assert_eq!(error(text), Form, "{text}");
        }
        for text in ["[10.0.0.5]:80", "[fd00::5", "a:b:80", "[x]:80"] {
            assert_eq!(error(text), Bracket, "{text}");
        }
        for text in ["a.example:0", "a.example:", "a.example:80,443", "10.0.0.5:*", "10.0.0.5:80-90"] {
            assert!(matches!(error(text), Port(_) | Form), "{text}");
        }
        for text in ["127.0.0.1:80", "[::1]:80", "169.254.169.254", "::ffff:127.0.0.1", "198.18.0.1"] {
            assert!(matches!(error(text), NeverDialled(_)), "{text}");
        }
        assert!(matches!(error(""), Name(_)));
        assert!(matches!(error(":80"), Name(_)));
    }
}
