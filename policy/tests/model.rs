//! G1, G3, G4: compares [`Phase::decide`](closedbook_policy::Phase::decide) with a model that knows nothing of its
//! types. The model works on plain strings and numbers and lists every way in which an attempt may pass; whatever it
//! does not list must be refused.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use closedbook_policy::{Attempt, Entry, Evidence, Hello, Host, Name, Policy, Reason, Request, Upgrade};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Hosts {
    Exact(String),
    Below(String),
    Block { first: u32, bits: u32 },
}

#[derive(Debug, Clone)]
struct Allowed {
    scheme: &'static str,
    hosts: Hosts,
    ports: Vec<u16>,
}

#[derive(Debug, Clone)]
enum Says {
    Tls { name: Option<String>, ech: bool },
    HttpName { name: String, port: Option<u16>, websocket: bool },
    HttpAddress { address: u32, port: Option<u16>, websocket: bool },
    Tcp(String),
}

/// Few values of everything, so that hits and near misses are as common as plain misses.
const NAMES: &[&str] =
    &["a.x", "b.a.x", "c.b.a.x", "ba.x", "x", "a.y", "b.a.y", "a.x.y", "z", "a-a.x", "aa.x", "b.aa.x"];
const PORTS: &[u16] = &[80, 443, 22, 8443];
const BASE: u32 = 0xcb00_7100; // 203.0.113.0, in a block that no table of reserved addresses holds

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(NAMES).prop_map(str::to_owned)
}

fn port() -> impl Strategy<Value = u16> {
    proptest::sample::select(PORTS)
}

fn address() -> impl Strategy<Value = u32> {
    (0u32..8).prop_map(|low| BASE + low)
}

fn allowed() -> impl Strategy<Value = Allowed> {
    let ports = proptest::sample::subsequence(PORTS, 1..=PORTS.len());
    let hosts = prop_oneof![
        name().prop_map(Hosts::Exact),
        name().prop_filter("wide", |name| name.contains('.')).prop_map(Hosts::Below),
        (address(), 29u32..=32)
            .prop_map(|(address, bits)| Hosts::Block { first: address >> (32 - bits) << (32 - bits), bits }),
    ];
    (proptest::sample::select(&["", "", "ws://", "tcp://"][..]), hosts, ports).prop_map(
        |(scheme, hosts, ports)| {
            let scheme = if matches!(hosts, Hosts::Exact(_)) || scheme != "tcp://" { scheme } else { "" };
            Allowed { scheme, hosts, ports }
        },
    )
}

fn says() -> impl Strategy<Value = Says> {
    let optional = || proptest::option::of(port());
    prop_oneof![
        (proptest::option::of(name()), any::<bool>()).prop_map(|(name, ech)| Says::Tls { name, ech }),
        (name(), optional(), any::<bool>()).prop_map(|(name, port, websocket)| Says::HttpName {
            name,
            port,
            websocket
        }),
        (address(), optional(), any::<bool>()).prop_map(|(address, port, websocket)| Says::HttpAddress {
            address,
            port,
            websocket
        }),
        name().prop_map(Says::Tcp),
    ]
}

fn text(allowed: &Allowed) -> String {
    let host = match &allowed.hosts {
        Hosts::Exact(name) => name.clone(),
        Hosts::Below(suffix) => format!("*.{suffix}"),
        Hosts::Block { first, bits } => format!("{}/{bits}", Ipv4Addr::from_bits(*first)),
    };
    let ports: Vec<String> = allowed.ports.iter().map(u16::to_string).collect();
    format!("{}{host}:{}", allowed.scheme, ports.join(","))
}

/// The model: where the attempt may go, if anywhere.
fn model(list: &[Allowed], refuse_ech: bool, says: &Says, to: u32, port: u16) -> Option<String> {
    let names = |allowed: &Allowed, name: &str| match &allowed.hosts {
        Hosts::Exact(exact) => exact == name,
        Hosts::Below(suffix) => name.ends_with(&format!(".{suffix}")),
        Hosts::Block { .. } => false,
    };
    let holds = |allowed: &Allowed| match allowed.hosts {
        Hosts::Block { first, bits } => first <= to && to < first + (1 << (32 - bits)),
        _ => false,
    };
    let open = |allowed: &Allowed| allowed.ports.contains(&port);
    let any = |test: &dyn Fn(&Allowed) -> bool| list.iter().any(|allowed| open(allowed) && test(allowed));
    let upgrade = |allowed: &Allowed, websocket: bool| !websocket || allowed.scheme == "ws://";
    let address = format!("{}:{port}", Ipv4Addr::from_bits(to));
    let (passes, destination) = match says {
        Says::Tcp(name) => (any(&|a| a.scheme == "tcp://" && names(a, name)), format!("{name}:{port}")),
        Says::Tls { ech: true, .. } if refuse_ech => (false, String::new()),
        Says::Tls { name: Some(name), .. } => {
            (any(&|a| a.scheme != "tcp://" && names(a, name)), format!("{name}:{port}"))
        }
        Says::Tls { name: None, .. } => (any(&|a| holds(a)), address),
        Says::HttpName { name, port: host_port, websocket } => (
            host_port.unwrap_or(80) == port
                && any(&|a| a.scheme != "tcp://" && names(a, name) && upgrade(a, *websocket)),
            format!("{name}:{port}"),
        ),
        Says::HttpAddress { address: host, port: host_port, websocket } => (
            host_port.unwrap_or(80) == port && *host == to && any(&|a| holds(a) && upgrade(a, *websocket)),
            address,
        ),
    };
    passes.then_some(destination)
}

fn evidence(says: &Says) -> Evidence {
    let name = |text: &str| Name::parse(text).unwrap();
    let upgrade = |websocket: bool| if websocket { Upgrade::WebSocket } else { Upgrade::None };
    match says {
        Says::Tls { name: server, ech } => {
            Evidence::Tls(Hello { server_name: server.as_deref().map(name), ech: *ech })
        }
        Says::HttpName { name: host, port, websocket } => Evidence::Http(Request {
            host: Host::Name(name(host)),
            port: *port,
            upgrade: upgrade(*websocket),
        }),
        Says::HttpAddress { address, port, websocket } => Evidence::Http(Request {
            host: Host::Address(Ipv4Addr::from_bits(*address).into()),
            port: *port,
            upgrade: upgrade(*websocket),
        }),
        Says::Tcp(host) => Evidence::Tcp(name(host)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decide_permits_what_the_model_permits(
        list in proptest::collection::vec(allowed(), 0..6),
        refuse_ech: bool,
        attempts in proptest::collection::vec((says(), address(), port(), any::<bool>()), 1..12),
    ) {
        let document = serde_json::json!({
            "schema": 1,
            "phase": {"agent": {"allow": list.iter().map(text).collect::<Vec<_>>()}},
            "tls": {"ech": if refuse_ech { "refuse" } else { "outer-name" }},
        });
        let policy = Policy::from_json(&document.to_string()).unwrap();
        let phase = policy.phase("agent").unwrap();
        for (says, to, port, mapped) in attempts {
            let v4 = Ipv4Addr::from_bits(to);
            let address = if mapped { IpAddr::V6(v4.to_ipv6_mapped()) } else { IpAddr::V4(v4) };
            let attempt = Attempt { evidence: evidence(&says), original: SocketAddr::new(address, port) };
            let expected = model(&list, refuse_ech, &says, to, port);
            match phase.decide(attempt.clone()) {
                Ok(permit) => {
                    prop_assert_eq!(Some(permit.destination().to_string()), expected, "{:?}", attempt);
                    let mut rules = list.iter().map(|allowed| Entry::parse(&text(allowed)).unwrap());
                    prop_assert!(rules.any(|entry| entry.as_str() == permit.rule()));
                    prop_assert!(phase.port_open(port), "a permit on a port that no entry opens");
                    if let Host::Name(name) = &permit.destination().host {
                        prop_assert!(phase.resolves(name).is_some(), "a permit for a name that DNS denies");
                    }
                }
                Err(refusal) => {
                    prop_assert_eq!(None, expected, "{:?}: {}", attempt, refusal);
                    if refusal.reason == Reason::PortNotAllowed {
                        // Some other port of this list passes, or would if Host named it.
                        let elsewhere = PORTS.iter().any(|port| {
                            let says = with_port(&says, *port);
                            model(&list, refuse_ech, &says, to, *port).is_some()
                                || model(&list, refuse_ech, &without_upgrade(&says), to, *port).is_some()
                        });
                        prop_assert!(elsewhere, "{:?}: {}", attempt, refusal);
                    }
                }
            }
            // Lockdown permits nothing, whatever the policy.
            prop_assert!(policy.phase("lockdown").unwrap().decide(attempt).is_err());
        }
    }

    /// G8: a phase without widening permits nothing that the other refuses.
    #[test]
    fn a_phase_that_does_not_widen_permits_no_more(
        wide in proptest::collection::vec(allowed(), 0..6),
        narrow in proptest::collection::vec(allowed(), 0..3),
        attempts in proptest::collection::vec((says(), address(), port()), 1..12),
    ) {
        let document = serde_json::json!({"schema": 1, "phase": {
            "wide": {"allow": wide.iter().map(text).collect::<Vec<_>>()},
            "narrow": {"allow": narrow.iter().map(text).collect::<Vec<_>>()},
        }});
        let policy = Policy::from_json(&document.to_string()).unwrap();
        let (wide, narrow) = (policy.phase("wide").unwrap(), policy.phase("narrow").unwrap());
        for (says, to, port) in attempts {
            let original = SocketAddr::new(Ipv4Addr::from_bits(to).into(), port);
            let attempt = Attempt { evidence: evidence(&says), original };
            if narrow.decide(attempt.clone()).is_ok() && wide.decide(attempt).is_err() {
                prop_assert!(narrow.widens(wide).is_some());
            }
        }
    }
}

fn with_port(says: &Says, new: u16) -> Says {
    let mut says = says.clone();
    match &mut says {
        Says::HttpName { port, .. } | Says::HttpAddress { port, .. } => *port = Some(new),
        Says::Tls { .. } | Says::Tcp(_) => {}
    }
    says
}

fn without_upgrade(says: &Says) -> Says {
    let mut says = says.clone();
    match &mut says {
        Says::HttpName { websocket, .. } | Says::HttpAddress { websocket, .. } => *websocket = false,
        Says::Tls { .. } | Says::Tcp(_) => {}
    }
    says
}
