//! Runs `cases/*.toml`: each is a policy, and attempts with what must become of them.
//!
//! An attempt says `tls = NAME` (empty: no server name), `http = HOST` or `tcp = NAME`, and `to = ADDRESS:PORT`, where
//! the client aimed. What is expected is `permit = DESTINATION` (with `rule = ENTRY`, and `dials` / `never_dials`, the
//! addresses that the permit covers or not), `refuse = REASON`, or `no_evidence = true`: the text is not even a name,
//! so the parsers refuse it and nothing is decided.

// The ban on IO is for the crate; its cases are files.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use closedbook_policy::{Attempt, Evidence, Hello, Host, Name, Policy, Reason, Request, Upgrade};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The guarantee or trick that the file is about.
    about: String,
    policy: String,
    attempts: Vec<Row>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default = "agent")]
    phase: String,
    tls: Option<String>,
    #[serde(default)]
    ech: bool,
    http: Option<String>,
    port: Option<u16>,
    #[serde(default)]
    websocket: bool,
    tcp: Option<String>,
    to: SocketAddr,
    permit: Option<String>,
    rule: Option<String>,
    #[serde(default)]
    dials: Vec<IpAddr>,
    #[serde(default)]
    never_dials: Vec<IpAddr>,
    refuse: Option<String>,
    #[serde(default)]
    no_evidence: bool,
}

fn agent() -> String {
    "agent".into()
}

impl Row {
    /// `None` if a name in it is not one.
    fn evidence(&self) -> Option<Evidence> {
        Some(match (&self.tls, &self.http, &self.tcp) {
            (Some(name), None, None) => {
                let server_name = if name.is_empty() { None } else { Some(Name::parse(name).ok()?) };
                Evidence::Tls(Hello { server_name, ech: self.ech })
            }
            (None, Some(host), None) => {
                let host = match host.parse() {
                    Ok(address) => Host::Address(address),
                    Err(_) => Host::Name(Name::parse(host).ok()?),
                };
                let upgrade = if self.websocket { Upgrade::WebSocket } else { Upgrade::None };
                Evidence::Http(Request { host, port: self.port, upgrade })
            }
            (None, None, Some(name)) => Evidence::Tcp(Name::parse(name).ok()?),
            _ => panic!("a row is one of tls, http, tcp: {self:?}"),
        })
    }
}

/// What became of a row, in the words of the row.
fn outcome(policy: &Policy, row: &Row) -> Result<(), String> {
    let expected = (row.permit.as_deref(), row.refuse.as_deref(), row.no_evidence);
    let Some(evidence) = row.evidence() else {
        return if expected == (None, None, true) { Ok(()) } else { Err("no evidence".into()) };
    };
    let phase = policy.phase(&row.phase).ok_or("no such phase")?;
    match (phase.decide(Attempt { evidence, original: row.to }), expected) {
        (Err(refusal), (None, Some(reason), false)) if refusal.reason.word() == reason => {
            if refusal.detail.is_empty() { Err("no detail".into()) } else { Ok(()) }
        }
        (Ok(permit), (Some(destination), None, false)) if permit.destination().to_string() == destination => {
            if row.rule.as_deref().is_some_and(|rule| rule != permit.rule()) {
                return Err(format!("rule {}", permit.rule()));
            }
            if let Some(address) = row.dials.iter().find(|address| permit.may_dial(**address).is_err()) {
                return Err(format!("does not dial {address}"));
            }
            match row.never_dials.iter().find(|address| permit.may_dial(**address).is_ok()) {
                Some(address) => Err(format!("dials {address}")),
                None => Ok(()),
            }
        }
        (Err(refusal), _) => Err(refusal.to_string()),
        (Ok(permit), _) => Err(format!("permit for {} by {}", permit.destination(), permit.rule())),
    }
}

#[test]
fn truth_table() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut rows, mut failures, mut reasons) = (0, Vec::new(), BTreeSet::new());
    for file in &files {
        let case: Case = toml::from_str(&std::fs::read_to_string(file).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let policy =
            Policy::from_toml(&case.policy).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        // The canonical form must decide as the written one does.
        let again = Policy::from_json(policy.to_json()).unwrap();
        for row in &case.attempts {
            rows += 1;
            reasons.extend(row.refuse.clone());
            for policy in [&policy, &again] {
                if let Err(got) = outcome(policy, row) {
                    failures.push(format!("{} ({}): got {got}\n  {row:?}", file.display(), case.about));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(files.len() >= 10 && rows >= 120, "{} files with {rows} rows: some were lost", files.len());
    let given = [
        Reason::NameNotAllowed,
        Reason::PortNotAllowed,
        Reason::AddressNotAllowed,
        Reason::NoServerName,
        Reason::EchRefused,
        Reason::HostMismatch,
        Reason::HttpUpgrade,
        Reason::PrivateAddress,
    ];
    assert_eq!(
        reasons,
        given.iter().map(|reason| reason.word().to_owned()).collect(),
        "each reason that a decision gives has a row, and no other reason has"
    );
}
