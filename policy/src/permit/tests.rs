use super::*;
use crate::{Evidence, Hello, Name, Policy};

/// A permit for `name` (or, without one, for the original address) under a document.
fn permit(document: &str, name: Option<&str>, original: &str) -> Permit {
    let policy = Policy::from_toml(document).unwrap();
    let server_name = name.map(|name| Name::parse(name).unwrap());
    let evidence = Evidence::Tls(Hello { server_name, ech: false });
    let attempt = Attempt { evidence, original: original.parse().unwrap() };
    policy.phase("agent").unwrap().decide(attempt).unwrap()
}

fn named(document: &str) -> Permit {
    permit(document, Some("m.example"), "198.18.0.9:443")
}

fn may_dial(permit: &Permit, address: &str) -> bool {
    match permit.may_dial(address.parse().unwrap()) {
        Ok(()) => true,
        Err(refusal) => {
            assert!(matches!(refusal.reason, Reason::PrivateAddress | Reason::AddressNotAllowed));
            false
        }
    }
}

const PLAIN: &str = r#"
    schema = 1
    phase.agent.allow = ["m.example"]
"#;

#[test]
fn a_name_may_lead_to_ordinary_addresses_only() {
    let permit = named(PLAIN);
    for address in ["203.0.113.5", "2001:db8::5", "::ffff:203.0.113.5", "64:ff9b::203.0.113.5"] {
        assert!(may_dial(&permit, address), "{address}");
    }
    for address in ["10.0.0.5", "fd00::5", "::ffff:10.0.0.5", "127.0.0.1", "169.254.169.254", "198.18.0.9"] {
        assert!(!may_dial(&permit, address), "{address}");
    }
}

/// G9: no setting, entry or route opens what is never dialled.
#[test]
fn never_means_never() {
    let permit = named(
        r#"
        schema = 1
        phase.agent.allow = ["m.example", "0.0.0.0/0:*", "[::/0]:*"]
        resolve.private = "allow"
        [route]
        "m.example" = "gateway.example"
        "#,
    );
    for address in
        ["127.0.0.1", "::1", "169.254.169.254", "fd00:ec2::254", "64:ff9b::127.0.0.1", "198.18.0.9"]
    {
        assert!(!may_dial(&permit, address), "{address}");
    }
    assert!(may_dial(&permit, "10.0.0.5") && may_dial(&permit, "fd00::5"));
}

#[test]
fn a_private_address_is_opened_by_an_entry_for_it_and_the_port() {
    let with = |entry: &str| named(&format!("schema = 1\nphase.agent.allow = [\"m.example\", {entry:?}]"));
    assert!(may_dial(&with("10.0.0.0/24"), "10.0.0.5"));
    assert!(may_dial(&with("10.0.0.5:443"), "::ffff:10.0.0.5"));
    assert!(!may_dial(&with("10.0.0.5:8443"), "10.0.0.5"), "another port");
    assert!(!may_dial(&with("10.0.1.0/24"), "10.0.0.5"), "another block");
    assert!(!may_dial(&with("10.0.0.0/24"), "64:ff9b::10.0.0.5"), "another address");
}

#[test]
fn a_route_opens_the_address_it_leads_to_and_no_other() {
    let permit = named(
        r#"
        schema = 1
        phase.agent.allow = ["m.example"]
        route."m.example" = "10.0.0.5:8443"
        "#,
    );
    assert_eq!(permit.destination().to_string(), "10.0.0.5:8443");
    assert!(may_dial(&permit, "10.0.0.5"));
    assert!(!may_dial(&permit, "10.0.0.6"));
    assert!(!may_dial(&permit, "203.0.113.5"), "a destination by address is that address");
}

#[test]
fn a_route_to_a_name_names_no_address() {
    let permit = named(
        r#"
        schema = 1
        phase.agent.allow = ["m.example"]
        route."m.example" = "gateway.example"
        "#,
    );
    assert_eq!(permit.destination().to_string(), "gateway.example:443");
    assert!(may_dial(&permit, "203.0.113.5"));
    assert!(!may_dial(&permit, "10.0.0.5"));
}

/// G3: an entry for an address permits that address, not what else the block holds.
#[test]
fn a_permit_by_address_is_for_the_address_aimed_at() {
    let document = "schema = 1\nphase.agent.allow = [\"10.0.0.0/8\"]";
    let permit = permit(document, None, "[::ffff:10.0.0.5]:443");
    assert_eq!(permit.destination().to_string(), "10.0.0.5:443");
    assert!(may_dial(&permit, "10.0.0.5"));
    assert!(!may_dial(&permit, "10.0.0.6"));
}
