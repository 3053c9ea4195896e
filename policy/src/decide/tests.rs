use super::*;
use crate::{Policy, Upgrade};

fn phase(allow: &[&str]) -> Arc<Phase> {
    let document = serde_json::json!({"schema": 1, "phase": {"agent": {"allow": allow}}});
    let policy = Policy::from_json(&document.to_string()).unwrap();
    Arc::clone(policy.phase("agent").unwrap())
}

fn tls(name: Option<&str>, original: &str) -> Attempt {
    let server_name = name.map(|name| Name::parse(name).unwrap());
    Attempt {
        evidence: Evidence::Tls(Hello { server_name, ech: false }),
        original: original.parse().unwrap(),
    }
}

fn http(host: Host, port: Option<u16>, original: &str) -> Attempt {
    let request = Request { host, port, upgrade: Upgrade::None };
    Attempt { evidence: Evidence::Http(request), original: original.parse().unwrap() }
}

/// G3: where the client aimed plays no part in where a permitted name is dialled.
#[test]
fn the_name_is_dialled_and_not_the_address() {
    let permit =
        phase(&["api.example.com"]).decide(tls(Some("api.example.com"), "203.0.113.66:443")).unwrap();
    assert_eq!(permit.destination().to_string(), "api.example.com:443");
    assert_eq!(permit.rule(), "api.example.com");
}

/// G4: nothing falls back to the address that the client aimed at.
#[test]
fn a_name_that_is_not_allowed_stays_so_inside_an_allowed_block() {
    let phase = phase(&["203.0.113.0/24"]);
    let refusal = phase.decide(tls(Some("evil.example"), "203.0.113.66:443")).unwrap_err();
    assert_eq!(refusal.reason, Reason::NameNotAllowed);
    assert_eq!(refusal.detail, "no entry of phase agent names evil.example");
    let permit = phase.decide(tls(None, "203.0.113.66:443")).unwrap();
    assert_eq!(permit.destination().to_string(), "203.0.113.66:443");
}

#[test]
fn details_say_what_is_permitted_instead() {
    let phase = phase(&["api.example.com", "api.example.com:8000-8010", "tcp://git.example.com:22"]);
    let detail = |attempt| phase.decide(attempt).unwrap_err().to_string();
    assert_eq!(
        detail(tls(Some("api.example.com"), "198.18.0.1:8443")),
        "port-not-allowed: phase agent permits api.example.com on 80,443,8000-8010, not on 8443"
    );
    assert_eq!(
        detail(tls(Some("git.example.com"), "198.18.0.1:22")),
        "name-not-allowed: only tcp://git.example.com:22 names git.example.com in phase agent, and not for TLS or HTTP"
    );
    assert_eq!(
        detail(tls(None, "198.18.0.1:443")),
        "no-server-name: the ClientHello names no server, and no entry of phase agent names 198.18.0.1"
    );
    let host = Host::Name(Name::parse("api.example.com").unwrap());
    assert_eq!(
        detail(http(host, None, "198.18.0.1:8000")),
        "host-mismatch: Host names no port, so 80, on a connection to port 8000"
    );
}

#[test]
fn the_most_specific_entry_is_the_rule() {
    let phase =
        phase(&["*.example.com", "*.a.example.com", "x.a.example.com", "203.0.113.0/24", "203.0.113.7"]);
    let rule = |name| phase.decide(tls(name, "203.0.113.7:443")).unwrap().rule().to_owned();
    assert_eq!(rule(Some("x.a.example.com")), "x.a.example.com");
    assert_eq!(rule(Some("y.a.example.com")), "*.a.example.com");
    assert_eq!(rule(Some("y.b.example.com")), "*.example.com");
    assert_eq!(rule(None), "203.0.113.7");
}

/// G7: a permit knows its switch, and what it permitted can be decided anew.
#[test]
fn a_permit_is_decided_anew_by_another_phase() {
    let permit = phase(&["api.example.com"])
        .at(crate::Epoch(7))
        .decide(tls(Some("api.example.com"), "198.18.0.1:443"))
        .unwrap();
    assert_eq!(permit.epoch(), crate::Epoch(7));
    let refusal = phase(&["other.example.com"]).decide(permit.attempt().clone()).unwrap_err();
    assert_eq!(refusal.reason, Reason::NameNotAllowed);
}

#[test]
fn tcp_names_and_ports() {
    let phase = phase(&["tcp://git.example.com:22,9418", "tcp://db.example.com:5432", "git.example.com"]);
    let names = |port| phase.tcp_names(port).map(Name::to_string).collect::<Vec<_>>();
    assert_eq!(names(22), ["git.example.com"]);
    assert_eq!(names(5432), ["db.example.com"]);
    assert!(names(443).is_empty());
    assert!(phase.port_open(443) && phase.port_open(9418) && !phase.port_open(25));
    assert!(phase.resolves(&Name::parse("db.example.com").unwrap()).is_some());
}
