//! What a supervisor says to the outer process it started, and hears from it.

use std::net::SocketAddr;

use closedbook_sidecar::outer::Summary;
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
    /// It has the listeners and accepts.
    Ready,
    /// It can't serve.
    Unable(String),
    /// It has ended everything.
    Done(Summary),
}

/// What the outer process enforces.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OuterConfig {
    /// The policy document, as JSON.
    pub(crate) policy: String,
    /// The phase to begin in.
    pub(crate) phase: String,
    /// The resolvers to ask; `None` for those of the host.
    pub(crate) resolvers: Option<Vec<SocketAddr>>,
}
