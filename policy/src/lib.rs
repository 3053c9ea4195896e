//! The policy language and the one decision.
//!
//! Pure: no IO, no async, no clock, no environment. Everything that reads bytes of the task turns them into
//! [`Evidence`]; [`Phase::decide`] turns an [`Attempt`] into a [`Permit`] or a [`Refusal`], and nothing else can
//! make a permit. What dials takes a permit, so forwarding without a decision does not compile (G1, G3, G4).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

mod advice;
mod canonical;
mod cidr;
mod decide;
mod document;
mod entry;
mod evidence;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod name;
mod pattern;
mod permit;
mod phase;
mod policy;
mod ports;
mod ranges;
mod ratchet;
mod reason;
mod settings;
mod suggest;

pub use advice::{Advice, Concern};
pub use canonical::Digest;
pub use cidr::{Cidr, InvalidCidr};
pub use document::{Fault, FaultKind, InvalidPolicy};
pub use entry::{Carries, Entry, EntryFault, InvalidEntry, Target};
pub use evidence::{Attempt, Evidence, Hello, Host, Request, Upgrade};
pub use name::{InvalidName, Name};
pub use pattern::Pattern;
pub use permit::{Destination, Permit};
pub use phase::{Epoch, InvalidPhaseName, LOCKDOWN, Phase, PhaseName};
pub use policy::Policy;
pub use ports::{InvalidPorts, Ports};
pub use ratchet::Widening;
pub use reason::{Reason, Refusal};
pub use settings::{DnsAnswers, Ech, InvalidRouteTarget, PrivateAddresses, RouteTarget};
