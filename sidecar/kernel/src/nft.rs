//! The packet rules of a task's network namespace: said as values, loaded in one transaction, read back.
//!
//! [`sealed`] says what the rules are, [`apply`] replaces whatever stood before in a single netlink batch,
//! [`verify`] reads the kernel's own copy and compares it expression by expression. Nothing is torn down on
//! drop: rules that stand keep standing when the program dies (G6).
//!
//! Every function here acts on the network namespace of the *calling thread*.

mod apply;
mod encode;
mod expressions;
mod feature;
mod ffi;
mod mismatch;
mod readback;
mod render;
mod ruleset;
mod sealed;

pub use apply::{ApplyError, Step, apply};
pub use feature::Feature;
pub use mismatch::{Mismatch, Mismatches};
pub use readback::{Count, Counters, VerifyError, verify};
pub use ruleset::{
    Action, Chain, Counter, Direction, Entry, Hook, Kind, Limit, Log, Match, Name, Point, Policy, Reject,
    Rule, Ruleset, Transport,
};
pub use sealed::{LOG_GROUP, PACKET_LOG, SealedPorts, sealed};

/// The numbers that [`Action::Number`] gives are below this, and begin again at zero after the last.
pub const NUMBERS: u32 = u32::MAX;
