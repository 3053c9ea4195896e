//! The entry that would permit a refused attempt.

use std::net::IpAddr;

use crate::cidr::canonical;
use crate::{Attempt, Entry, Evidence, Host, Phase, PhaseName, Policy, Upgrade};

impl Policy {
    /// An entry that, added to the phase, would permit the attempt: the narrowest that a person would write, so with the
    /// default ports rather than one of them.
    ///
    /// `None` if no entry would: the attempt contradicts itself, aims at what is never dialled, is refused by a
    /// setting, or the phase is `lockdown`. Tried out, not guessed: the entry is added and the attempt decided.
    pub fn entry_for(&self, phase: &Phase, attempt: &Attempt) -> Option<Entry> {
        let entry = Entry::parse(&text(attempt)).ok()?;
        let name = PhaseName::parse(phase.name()).ok()?;
        let grown = self.with_allowed(&name, std::slice::from_ref(&entry));
        grown.phase(phase.name())?.decide(attempt.clone()).is_ok().then_some(entry)
    }
}

fn text(attempt: &Attempt) -> String {
    let port = attempt.original.port();
    let address = || Host::Address(canonical(attempt.original.ip()));
    let (scheme, host) = match &attempt.evidence {
        Evidence::Tcp(name) => ("tcp://", Host::Name(name.clone())),
        Evidence::Tls(hello) => ("", hello.server_name.clone().map_or_else(address, Host::Name)),
        Evidence::Http(request) if request.upgrade == Upgrade::WebSocket => ("ws://", request.host.clone()),
        Evidence::Http(request) => ("", request.host.clone()),
    };
    // The default ports are what a person would write.
    let ports =
        if scheme != "tcp://" && matches!(port, 80 | 443) { String::new() } else { format!(":{port}") };
    match host {
        Host::Address(IpAddr::V6(address)) => format!("{scheme}[{address}]{ports}"),
        host => format!("{scheme}{host}{ports}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hello, Name, Request};

    fn suggested(document: &str, phase: &str, evidence: Evidence, to: &str) -> Option<String> {
        let policy = Policy::from_toml(&format!("schema = 1\nphase.agent.allow = []\n{document}")).unwrap();
        let attempt = Attempt { evidence, original: to.parse().unwrap() };
        policy.entry_for(policy.phase(phase).unwrap(), &attempt).map(|entry| entry.to_string())
    }

    fn tls(name: Option<&str>) -> Evidence {
        Evidence::Tls(Hello { server_name: name.map(|name| Name::parse(name).unwrap()), ech: true })
    }

    fn http(port: Option<u16>, upgrade: Upgrade) -> Evidence {
        Evidence::Http(Request { host: Host::Name(Name::parse("a.example").unwrap()), port, upgrade })
    }

    #[test]
    fn the_entry_is_as_narrow_as_a_person_would_write() {
        let suggested = |evidence, to| suggested("", "agent", evidence, to);
        assert_eq!(suggested(tls(Some("a.example")), "198.18.0.1:443").as_deref(), Some("a.example"));
        assert_eq!(suggested(tls(Some("a.example")), "198.18.0.1:8443").as_deref(), Some("a.example:8443"));
        assert_eq!(suggested(tls(None), "[2001:db8::1]:8443").as_deref(), Some("[2001:db8::1]:8443"));
        assert_eq!(suggested(tls(None), "[::ffff:203.0.113.7]:443").as_deref(), Some("203.0.113.7"));
        assert_eq!(
            suggested(http(None, Upgrade::WebSocket), "198.18.0.1:80").as_deref(),
            Some("ws://a.example")
        );
        let tcp = Evidence::Tcp(Name::parse("git.example").unwrap());
        assert_eq!(suggested(tcp, "198.18.0.1:22").as_deref(), Some("tcp://git.example:22"));
    }

    #[test]
    fn nothing_is_suggested_that_would_not_help() {
        assert_eq!(suggested("", "agent", http(Some(81), Upgrade::None), "198.18.0.1:80"), None);
        assert_eq!(suggested("", "agent", tls(None), "169.254.169.254:80"), None);
        assert_eq!(suggested("tls.ech = 'refuse'", "agent", tls(Some("a.example")), "198.18.0.1:443"), None);
        assert_eq!(suggested("", "lockdown", tls(Some("a.example")), "198.18.0.1:443"), None);
    }
}
