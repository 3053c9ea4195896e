//! What a supervisor says to the outer process it started, and hears from it.

use std::net::SocketAddr;

use crate::flags::log::Manner;
use closedbook_sidecar::outer::{Refused, Summary};
use serde::{Deserialize, Serialize};

/// From the supervisor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToOuter {
    /// The first message: what to enforce.
    Serve(OuterConfig),
    /// Cut everything, and report.
    Stop,
}

/// From the outer process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromOuter {
    /// It serves, and the self-test has passed.
    Ready,
    /// It can't serve.
    Unable(String),
    /// It has ended everything.
    Done(Report),
}

/// What the outer process enforces.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OuterConfig {
    /// The policy document, as JSON.
    pub(crate) policy: String,
    /// The version of the agent table that it came from, if it did.
    #[serde(default)]
    pub(crate) table: Option<u32>,
    /// The phase to begin in.
    pub(crate) phase: String,
    /// The resolvers to ask; `None` for those of the host.
    pub(crate) resolvers: Option<Vec<SocketAddr>>,
    /// Which messages it prints; its environment, where this stood, is empty.
    pub(crate) messages: Option<String>,
    /// How the log is written, if there is one.
    pub(crate) log: Manner,
    /// How the ratchet is set, as `--widen` has it.
    pub(crate) widen: String,
    /// The user who is answered at the control socket.
    pub(crate) owner: u32,
}

/// What the closing line of a run is made of.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// What was refused, most often first.
    pub(crate) refused: Vec<Row>,
    /// Refusals beyond the table's size.
    pub(crate) refused_more: u64,
    /// Attempts that are not in the decision log.
    pub(crate) unrecorded: u64,
    /// Refused packets that have no record, since there were too many at once.
    #[serde(default)]
    pub(crate) packets_unrecorded: u64,
    /// Why the log is not complete, if it is not.
    pub(crate) log_error: Option<String>,
}

/// One kind of refusal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The name, or the address that was aimed at.
    pub(crate) host: String,
    /// The port; none for a DNS question.
    pub(crate) port: Option<u16>,
    /// The stable word of the reason.
    pub(crate) reason: String,
    /// How often.
    pub(crate) times: u64,
}

impl From<Summary> for Report {
    fn from(summary: Summary) -> Self {
        let Summary { refused, refused_more, unrecorded, packets_unrecorded, log_error, .. } = summary;
        let refused = refused.into_iter().map(Row::from).collect();
        Self { refused, refused_more, unrecorded, packets_unrecorded, log_error }
    }
}

impl From<Refused> for Row {
    fn from(refused: Refused) -> Self {
        let Refused { host, port, kind: _, reason, times } = refused;
        Self { host, port, reason: reason.word().to_owned(), times }
    }
}
