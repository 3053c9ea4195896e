//! The entry that would permit what was refused, and why it should perhaps stay refused.

use closedbook_policy::{Entry, PhaseName, Policy, Reason};

use super::report::Concern;

/// The entry that would permit it: as a person would write it, so without the ports that go without saying. None for
/// refusals that no entry can change.
pub fn entry(host: &str, port: Option<u16>, reason: Reason) -> Option<Entry> {
    let name = host.parse::<std::net::IpAddr>().is_err();
    let scheme = match reason {
        Reason::NameNotAllowed | Reason::DnsName | Reason::AddressNotAllowed | Reason::PortNotAllowed => "",
        Reason::NoServerName if !name => "",
        Reason::HttpUpgrade => "ws://",
        // The server of such a protocol speaks first, or the client in a language that is not looked into.
        Reason::NotTlsOrHttp | Reason::HelloTimeout if name => "tcp://",
        _ => return None,
    };
    let goes_without_saying = scheme != "tcp://" && matches!(port, Some(80 | 443));
    let port = port.filter(|_| !goes_without_saying || reason == Reason::PortNotAllowed);
    let host = match (host.contains(':'), port) {
        (true, Some(_)) => format!("[{host}]"),
        _ => host.to_owned(),
    };
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    // Not everything that a client can ask for can be permitted: names that are none, addresses of the inside.
    Entry::parse(&format!("{scheme}{host}{port}")).ok()
}

/// What there is to be said against the entry in this phase.
pub fn concerns(entry: &Entry, phase: &str) -> Vec<Concern> {
    let Ok(phase) = PhaseName::parse(phase) else { return Vec::new() };
    let advice = Policy::single(&phase, std::slice::from_ref(entry)).advice();
    advice
        .into_iter()
        .map(|advice| Concern {
            id: advice.concern.word().to_owned(),
            detail: advice.detail,
            why: advice.concern.why().to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_would_help() {
        use Reason::*;
        for (host, port, reason, proposed) in [
            ("a.example", None, DnsName, Some("a.example")),
            ("a.example", Some(443), NameNotAllowed, Some("a.example")),
            ("a.example", Some(8443), NameNotAllowed, Some("a.example:8443")),
            ("a.example", Some(443), PortNotAllowed, Some("a.example:443")),
            ("203.0.113.7", Some(443), NoServerName, Some("203.0.113.7")),
            ("2001:db8::7", Some(8443), AddressNotAllowed, Some("[2001:db8::7]:8443")),
            ("a.example", Some(80), HttpUpgrade, Some("ws://a.example")),
            ("git.example", Some(22), NotTlsOrHttp, Some("tcp://git.example:22")),
            ("203.0.113.7", Some(22), NotTlsOrHttp, None),
            ("127.0.0.1", Some(80), AddressNotAllowed, None),
            ("_x.example", None, DnsName, None),
            ("a.example", Some(443), EchRefused, None),
            ("a.example", Some(443), DialFailed, None),
        ] {
            let found = entry(host, port, reason).map(|entry| entry.to_string());
            assert_eq!(found.as_deref(), proposed, "{host} {port:?} {reason}");
        }
    }

    /// A code host is warned of where the agent runs, and not where it is set up.
    #[test]
    fn warnings() {
        let entry = Entry::parse("github.com").unwrap();
        let ids = |phase| concerns(&entry, phase).into_iter().map(|concern| concern.id).collect::<Vec<_>>();
        assert_eq!(ids("agent"), ["channel-code-host"]);
        assert!(ids("setup").is_empty());
        let raw = Entry::parse("tcp://git.example:22").unwrap();
        assert_eq!(concerns(&raw, "agent")[0].id, "channel-raw-tcp");
    }
}
