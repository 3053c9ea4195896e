//! `closedbook policy explain`.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use closedbook_policy::{Attempt, Evidence, Hello, Host, Name, Phase, Policy, Ports, Request, Upgrade};
use serde_json::json;

use super::file;
use crate::exit::Failure;

#[derive(Args)]
pub(super) struct Explain {
    /// The policy, TOML or JSON; `-` reads standard input
    file: PathBuf,
    /// What would be reached: a URL, HOST, HOST:PORT or tcp://NAME:PORT
    ///
    /// HOST is taken for TLS on port 443, and for plain HTTP if the port is 80.
    what: What,
    /// The phase; all phases if not given
    #[arg(long)]
    phase: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a client would do.
#[derive(Debug, Clone)]
struct What {
    /// As it was written.
    text: String,
    /// How it was taken.
    reading: String,
    attempt: Attempt,
}

/// What one phase makes of it.
struct Answer {
    phase: String,
    outcome: Result<Permitted, Refused>,
}

struct Permitted {
    rule: String,
    destination: String,
}

struct Refused {
    reason: &'static str,
    detail: String,
    /// The entry that would permit it.
    add: Option<String>,
}

impl Explain {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let policy = super::load(&self.file)?;
        let phases: Vec<&Arc<Phase>> = match &self.phase {
            None => policy.phases().collect(),
            Some(name) => vec![policy.phase(name).ok_or_else(|| unknown_phase(&policy, name))?],
        };
        let answers: Vec<Answer> =
            phases.into_iter().map(|phase| answer(&policy, phase, &self.what.attempt)).collect();
        if self.json {
            file::print_json(&report(&self.what, &answers))?;
        } else {
            file::print(&text(&self.what, &answers))?;
        }
        let passes = answers.iter().any(|answer| answer.outcome.is_ok());
        Ok(ExitCode::from(u8::from(!passes)))
    }
}

fn unknown_phase(policy: &Policy, name: &str) -> Failure {
    let known: Vec<&str> = policy.phases().map(|phase| phase.name()).collect();
    Failure::usage(format!("the policy has no phase {name:?}")).remedy(format!("it has {}", known.join(", ")))
}

fn answer(policy: &Policy, phase: &Arc<Phase>, attempt: &Attempt) -> Answer {
    let refused = |reason: &'static str, detail: String| Refused {
        reason,
        detail,
        add: policy.entry_for(phase, attempt).map(|entry| entry.to_string()),
    };
    let decided = phase.decide(attempt.clone()).and_then(|permit| {
        // A name is resolved when it is dialled; an address is known now.
        match permit.destination().host {
            Host::Address(address) => permit.may_dial(address).map(|()| permit),
            Host::Name(_) => Ok(permit),
        }
    });
    let outcome = match decided {
        Ok(permit) => {
            Ok(Permitted { rule: permit.rule().to_owned(), destination: permit.destination().to_string() })
        }
        Err(refusal) => Err(refused(refusal.reason.word(), refusal.detail.into_owned())),
    };
    Answer { phase: phase.name().to_owned(), outcome }
}

fn report(what: &What, answers: &[Answer]) -> serde_json::Value {
    let answers: Vec<_> = answers
        .iter()
        .map(|answer| match &answer.outcome {
            Ok(Permitted { rule, destination }) => json!({
                "phase": answer.phase,
                "verdict": "allow",
                "rule": rule,
                "destination": destination,
            }),
            Err(Refused { reason, detail, add }) => json!({
                "phase": answer.phase,
                "verdict": "deny",
                "reason": reason,
                "detail": detail,
                "add": add,
            }),
        })
        .collect();
    json!({ "what": what.text, "read_as": what.reading, "phases": answers })
}

fn text(what: &What, answers: &[Answer]) -> String {
    let mut text = format!("{}\n", what.reading);
    let width = answers.iter().map(|answer| answer.phase.len()).max().unwrap_or(0);
    for Answer { phase, outcome } in answers {
        // Writing to a String can't fail.
        let _ = match outcome {
            Ok(Permitted { rule, destination }) => {
                writeln!(text, "  {phase:width$}  allow  by {rule}, dialled at {destination}")
            }
            Err(Refused { reason, detail, add }) => {
                let add =
                    add.as_ref().map(|entry| format!("; {entry:?} would permit it")).unwrap_or_default();
                writeln!(text, "  {phase:width$}  deny   {reason}: {detail}{add}")
            }
        };
    }
    text
}

impl FromStr for What {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, text),
        };
        // Paths and user parts don't count; what is left names the server.
        let server = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
        let (host, port) = host_and_port(server)?;
        let scheme = match scheme.as_deref() {
            None if port == Some(80) => "http",
            None => "https",
            Some(scheme) => scheme,
        };
        let (kind, port, evidence) = match scheme {
            "https" | "wss" => ("TLS", port.unwrap_or(443), tls(&host)),
            "http" => ("plain HTTP", port.unwrap_or(80), http(&host, port, Upgrade::None)),
            "ws" => ("WebSocket over plain HTTP", port.unwrap_or(80), http(&host, port, Upgrade::WebSocket)),
            "tcp" => match (&host, port) {
                (Host::Name(name), Some(port)) => ("other TCP", port, Evidence::Tcp(name.clone())),
                _ => return Err("tcp:// takes a name and a port, as in tcp://git.example.com:22".into()),
            },
            scheme => return Err(format!("the scheme {scheme:?} is none of https, http, wss, ws, tcp")),
        };
        // A client that asks for a name aims at an address that was made up for it; which one plays no part.
        let address = match host {
            Host::Address(address) => address,
            Host::Name(_) => IpAddr::V4(Ipv4Addr::new(198, 18, 0, 1)),
        };
        let reading = format!("{kind} to {host}, port {port}");
        let attempt = Attempt { evidence, original: SocketAddr::new(address, port) };
        Ok(Self { text: text.to_owned(), reading, attempt })
    }
}

fn tls(host: &Host) -> Evidence {
    let server_name = match host {
        Host::Name(name) => Some(name.clone()),
        // RFC 6066 section 3: a literal address is never sent as a server name.
        Host::Address(_) => None,
    };
    Evidence::Tls(Hello { server_name, ech: false })
}

fn http(host: &Host, port: Option<u16>, upgrade: Upgrade) -> Evidence {
    Evidence::Http(Request { host: host.clone(), port, upgrade })
}

fn host_and_port(server: &str) -> Result<(Host, Option<u16>), String> {
    if let Ok(address) = server.parse::<IpAddr>() {
        return Ok((Host::Address(address), None));
    }
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(one_port(port)?)),
        _ => (server, None),
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match bare.parse() {
        Ok(address) => Ok((Host::Address(address), port)),
        Err(_) => {
            let name = Name::parse_unicode(host).map_err(|error| format!("{host:?} is no host: {error}"))?;
            Ok((Host::Name(name), port))
        }
    }
}

fn one_port(text: &str) -> Result<u16, String> {
    let ports = Ports::parse(text).map_err(|error| error.to_string())?;
    let mut ranges = ports.ranges();
    match (ranges.next(), ranges.next()) {
        (Some(range), None) if range.start() == range.end() => Ok(*range.start()),
        _ => Err(format!("{text:?} is more than one port")),
    }
}
