//! Reads the text of an entry.

use super::{Carries, Entry, EntryFault, Target};
use crate::cidr::{Cidr, InvalidCidr};
use crate::{Name, Pattern, Ports, ranges};

/// A URL is the likeliest mistake, so its parts (scheme, userinfo, path) are looked for before anything is split.
pub(super) fn read(text: &str) -> Result<Entry, EntryFault> {
    if text.is_empty() {
        return Err(EntryFault::Empty);
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(EntryFault::Blank);
    }
    let (carries, rest) = scheme(text)?;
    if rest.contains('@') {
        return Err(EntryFault::UserInfo);
    }
    if rest.contains(['?', '#', '\\']) {
        return Err(EntryFault::Path);
    }
    let (host, ports) = split(rest)?;
    let target = target(host)?;
    if ports.is_some_and(|ports| ports.contains('/')) {
        return Err(EntryFault::Path);
    }
    let ports = ports.map(Ports::parse).transpose()?;
    match carries {
        Carries::Tcp => tcp(target, ports),
        _ => Ok(Entry::new(target, ports.unwrap_or_else(Ports::web), carries)),
    }
}

fn scheme(text: &str) -> Result<(Carries, &str), EntryFault> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Ok((Carries::Web, text));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "tcp" => Ok((Carries::Tcp, rest)),
        "ws" => Ok((Carries::WebSocket, rest)),
        "wss" => Err(EntryFault::SecureWebSocket),
        _ => Err(EntryFault::Scheme(scheme.chars().take(20).collect())),
    }
}

/// Splits host and ports. Bare IPv6 has colons of its own, so it takes no ports; brackets tell the two apart.
fn split(text: &str) -> Result<(&str, Option<&str>), EntryFault> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or(EntryFault::Bracket)?;
        return match after.strip_prefix(':') {
            _ if !host.contains(':') => Err(EntryFault::Bracket),
            Some(ports) => Ok((host, Some(ports))),
            None if after.is_empty() => Ok((host, None)),
            None => Err(EntryFault::Bracket),
        };
    }
    match text.split_once(':') {
        None => Ok((text, None)),
        Some((_, ports)) if ports.contains(':') && reads_as_ipv6(text) => Ok((text, None)),
        Some((_, ports)) if ports.contains(':') => Err(EntryFault::Colons),
        Some((host, ports)) => Ok((host, Some(ports))),
    }
}

fn reads_as_ipv6(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.' | b'/'))
}

fn target(host: &str) -> Result<Target, EntryFault> {
    match Cidr::parse(host) {
        Ok(block) => return addresses(block),
        // With a slash it is a block or a path, never a name.
        Err(InvalidCidr::Address) if host.contains('/') => return Err(EntryFault::Path),
        Err(InvalidCidr::Address) if host.contains(':') => {
            return Err(EntryFault::Address(InvalidCidr::Address));
        }
        Err(InvalidCidr::Address) => {}
        Err(fault) => return Err(EntryFault::Address(fault)),
    }
    if host.contains('*') { below(host) } else { exact(host) }
}

/// An entry for addresses that nothing dials would be a rule that never holds: said now, not at the first timeout.
fn addresses(block: Cidr) -> Result<Target, EntryFault> {
    match ranges::never(&block) {
        Some(what) => Err(EntryFault::NeverDialled(what)),
        None => Ok(Target::Addresses(block)),
    }
}

fn exact(host: &str) -> Result<Target, EntryFault> {
    match host {
        "" => Err(EntryFault::NoHost),
        host if host.starts_with('.') && host.len() > 1 => Err(EntryFault::LeadingDot),
        host => Ok(Target::Names(Pattern::Exact(Name::parse_unicode(host)?))),
    }
}

fn below(host: &str) -> Result<Target, EntryFault> {
    if host.chars().all(|c| matches!(c, '*' | '.')) {
        return Err(EntryFault::AnyHost);
    }
    let suffix =
        host.strip_prefix("*.").filter(|suffix| !suffix.contains('*')).ok_or(EntryFault::Wildcard)?;
    let suffix = Name::parse_unicode(suffix)?;
    if suffix.labels().count() < 2 {
        return Err(EntryFault::TooWide);
    }
    Ok(Target::Names(Pattern::Below(suffix)))
}

fn tcp(target: Target, ports: Option<Ports>) -> Result<Entry, EntryFault> {
    if !matches!(target, Target::Names(Pattern::Exact(_))) {
        return Err(EntryFault::TcpHost);
    }
    match ports {
        Some(ports) if !ports.is_all() => Ok(Entry::new(target, ports, Carries::Tcp)),
        _ => Err(EntryFault::TcpPorts),
    }
}
