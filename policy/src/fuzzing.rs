//! What must hold for every text, however hostile (G16). Called by the fuzz targets; panics where it does not hold.

use std::net::IpAddr;

use crate::{Attempt, Evidence, Hello, Host, LOCKDOWN, Name, Policy, Request, Upgrade};

/// A name that was read is canonical: it reads as itself, and nobody can take it for an address.
pub fn name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = Name::parse(text);
    for name in [read.clone(), Name::parse_unicode(text)].into_iter().flatten() {
        let canonical = name.as_str();
        assert_eq!(Name::parse(canonical).as_ref(), Ok(&name));
        assert!(canonical.len() <= 253 && canonical.parse::<IpAddr>().is_err());
        assert!(canonical.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.')));
        assert!(name.labels().all(|label| (1..=63).contains(&label.len())));
        assert!(!name.is_below(&name));
    }
    if let Ok(name) = read {
        assert!(text.eq_ignore_ascii_case(name.as_str()) || text.strip_suffix('.').is_some());
    }
}

/// A document that was read means the same when its canonical form is read; what its phases permit is dialled on a
/// port that they open, and `lockdown` permits nothing.
pub fn policy_document(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for policy in [Policy::from_toml(text), Policy::from_json(text)] {
        match policy {
            Ok(policy) => check(&policy),
            // An error can be said in words.
            Err(invalid) => assert!(!invalid.to_string().is_empty()),
        }
    }
}

fn check(policy: &Policy) {
    let again = Policy::from_json(policy.to_json());
    assert_eq!(again.as_ref().map(Policy::digest), Ok(policy.digest()));
    for phase in policy.phases() {
        for attempt in attempts() {
            match phase.decide(attempt.clone()) {
                Ok(permit) => {
                    assert_ne!(phase.name(), LOCKDOWN);
                    assert!(phase.port_open(attempt.original.port()));
                    assert!(permit.may_dial([127, 0, 0, 1].into()).is_err());
                }
                Err(refusal) => assert!(!refusal.detail.is_empty()),
            }
        }
    }
}

fn attempts() -> impl Iterator<Item = Attempt> {
    let names = ["example.org", "a.example.org", "localhost"].into_iter().flat_map(Name::parse);
    names.flat_map(|name| {
        let hello = Hello { server_name: Some(name.clone()), ech: true };
        let request = Request { host: Host::Name(name.clone()), port: None, upgrade: Upgrade::WebSocket };
        let evidence = [Evidence::Tls(hello), Evidence::Http(request), Evidence::Tcp(name)];
        let ports = [22_u16, 80, 443].into_iter();
        ports.flat_map(move |port| {
            let original = ([198, 18, 0, 1], port).into();
            evidence.clone().into_iter().map(move |evidence| Attempt { evidence, original })
        })
    })
}
