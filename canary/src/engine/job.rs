//! What a run of the canary is to do, as a file: made outside, where policy and table are, and carried out inside.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::probe::Level;
use crate::report::evidence::{Fact, Subject};
use crate::targets::Targets;

/// A run of the canary. One line of JSON, or a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The version of this shape.
    pub schema: u32,
    /// A name that no other run has.
    pub run: String,
    /// What it is about.
    pub subject: Subject,
    /// The policy itself, as its canonical JSON.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub policy: Option<String>,
    /// The phases to try, in their order.
    pub phases: Vec<PhaseJob>,
    /// As whom, and with what.
    pub levels: BTreeMap<Level, Privilege>,
    /// Whether the harness kills the sidecar at the end.
    #[serde(default)]
    pub kills: bool,
    /// Only probes whose id starts with one of these; all, if there are none.
    #[serde(default)]
    pub only: Vec<String>,
    /// What no probe can try.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseJob {
    /// Its name.
    pub name: String,
    /// What is aimed at while it is in force.
    pub targets: Targets,
}

/// The privilege of a level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Privilege {
    /// The user to become, if the canary is root.
    pub uid: u32,
    /// The group to become.
    pub gid: u32,
    /// Capabilities to keep; `None`: all that are there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keep: Option<Vec<String>>,
}

/// What Docker leaves to root in a container that was given nothing more and nothing less
/// (<https://docs.docker.com/engine/containers/run/#runtime-privilege-and-linux-capabilities>).
pub const DOCKER_DEFAULT: [&str; 14] = [
    "CAP_AUDIT_WRITE",
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_MKNOD",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_RAW",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];
