//! What something in the registry lives by, and whether another phase leaves it that.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use closedbook_policy::{
    Attempt, Destination, DnsAnswers, Evidence, Host, Name, Permit, Phase, Reason, Refusal,
};

use super::Line;
use crate::outer::log::Kind;

/// What must be permitted for a connection to go on.
#[derive(Debug)]
pub(crate) enum Claim {
    /// A decided flow, with where it leads.
    Flow {
        attempt: Attempt,
        rule: Box<str>,
        destination: Destination,
        dialled: Option<SocketAddr>,
        resting: bool,
    },
    /// A connection that has not said yet what it wants: the port it was aimed at.
    Hello(SocketAddr),
    /// A question for which somebody upstream is asked.
    Question(Name),
}

/// How far a live flow has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has not said yet what it wants.
    Hello,
    /// Resolving or connecting.
    Dialling,
    /// Bytes may move.
    Open,
    /// A kept connection between two requests.
    Idle,
    /// A DNS question that waits for an answer from upstream.
    Asking,
}

/// Something that lives under the phase in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveFlow {
    /// The number of its record in the decision log; of a kept connection, that of its last request.
    pub id: u64,
    /// How far it has come.
    pub state: State,
    /// What it is.
    pub kind: Kind,
    /// The host that was told, or the address where none was.
    pub host: String,
    /// The port that it was aimed at; none for a DNS question.
    pub port: Option<u16>,
    /// Where it was aimed at.
    pub original: Option<SocketAddr>,
    /// What it is connected to.
    pub dialled: Option<SocketAddr>,
    /// The entry that permits it.
    pub rule: Option<String>,
    /// For how long.
    pub age: Duration,
    /// Bytes to the server and from it, once there is one.
    pub bytes: (u64, u64),
}

/// Something that a switch has cut.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CutFlow {
    /// The number of its record in the decision log; of a kept connection, that of its last request.
    pub id: u64,
    /// What it was.
    pub kind: Kind,
    /// The host that was told, or the address where none was.
    pub host: String,
    /// The port that it was aimed at; none for a DNS question.
    pub port: Option<u16>,
}

impl Claim {
    pub(super) fn of(permit: &Permit) -> Self {
        Claim::Flow {
            attempt: permit.attempt().clone(),
            rule: permit.rule().into(),
            destination: permit.destination().clone(),
            dialled: None,
            resting: false,
        }
    }

    /// Whether the phase permits it, down to the address that was dialled: another policy may permit the name and lead
    /// it elsewhere, or no longer permit a private address.
    pub(super) fn stands(&self, phase: &Arc<Phase>) -> Result<(), Refusal> {
        match self {
            Claim::Flow { attempt, destination, dialled, .. } => {
                let permit = phase.decide(attempt.clone())?;
                if permit.destination() != destination {
                    let detail = format!("phase {} leads it elsewhere", phase.name());
                    return Err(Refusal::new(Reason::PhaseChanged, detail));
                }
                dialled.map_or(Ok(()), |address| permit.may_dial(address.ip()))
            }
            Claim::Hello(original) if phase.port_open(original.port()) => Ok(()),
            Claim::Hello(original) => Err(Refusal::new(
                Reason::PortNotAllowed,
                format!("phase {} permits nothing on port {}", phase.name(), original.port()),
            )),
            Claim::Question(name)
                if phase.resolves(name).is_some() && phase.dns_answers() == DnsAnswers::Real =>
            {
                Ok(())
            }
            Claim::Question(_) => Err(Refusal::new(
                Reason::DnsName,
                format!("phase {} does not have it asked upstream", phase.name()),
            )),
        }
    }

    pub(super) fn reached(&mut self, address: SocketAddr) {
        if let Claim::Flow { dialled, .. } = self {
            *dialled = Some(address);
        }
    }

    pub(super) fn rest(&mut self) {
        if let Claim::Flow { resting, .. } = self {
            *resting = true;
        }
    }

    fn state(&self) -> State {
        match self {
            Claim::Hello(_) => State::Hello,
            Claim::Question(_) => State::Asking,
            Claim::Flow { resting: true, .. } => State::Idle,
            Claim::Flow { dialled: None, .. } => State::Dialling,
            Claim::Flow { .. } => State::Open,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Claim::Question(_) => Kind::Dns,
            Claim::Hello(_) => Kind::Tcp,
            Claim::Flow { attempt, .. } => match attempt.evidence {
                Evidence::Tls(_) => Kind::Tls,
                Evidence::Http(_) => Kind::Http,
                Evidence::Tcp(_) => Kind::Tcp,
            },
        }
    }

    fn host(&self) -> String {
        let address = |address: IpAddr| address.to_canonical().to_string();
        match self {
            Claim::Question(name) => name.to_string(),
            Claim::Hello(original) => address(original.ip()),
            Claim::Flow { attempt, .. } => match &attempt.evidence {
                Evidence::Tls(hello) => match &hello.server_name {
                    Some(name) => name.to_string(),
                    None => address(attempt.original.ip()),
                },
                Evidence::Http(request) => match &request.host {
                    Host::Name(name) => name.to_string(),
                    Host::Address(host) => address(*host),
                },
                Evidence::Tcp(name) => name.to_string(),
            },
        }
    }

    fn original(&self) -> Option<SocketAddr> {
        match self {
            Claim::Question(_) => None,
            Claim::Hello(original) => Some(*original),
            Claim::Flow { attempt, .. } => Some(attempt.original),
        }
    }
}

impl LiveFlow {
    pub(super) fn new(id: u64, claim: &Claim, line: Option<&Line>, age: Duration) -> Self {
        let (dialled, rule) = match claim {
            Claim::Flow { dialled, rule, .. } => (*dialled, Some(rule.to_string())),
            _ => (None, None),
        };
        let bytes = line.map_or((0, 0), |Line { moved, .. }| {
            (moved.up.load(Ordering::Relaxed), moved.down.load(Ordering::Relaxed))
        });
        let original = claim.original();
        Self {
            id,
            state: claim.state(),
            kind: claim.kind(),
            host: claim.host(),
            port: original.map(|original| original.port()),
            original,
            dialled,
            rule,
            age,
            bytes,
        }
    }
}

impl CutFlow {
    pub(super) fn new(id: u64, claim: &Claim) -> Self {
        let port = claim.original().map(|original| original.port());
        Self { id, kind: claim.kind(), host: claim.host(), port }
    }
}

impl State {
    /// The stable word.
    pub fn word(self) -> &'static str {
        match self {
            State::Hello => "hello",
            State::Dialling => "dialling",
            State::Open => "open",
            State::Idle => "idle",
            State::Asking => "asking",
        }
    }
}
