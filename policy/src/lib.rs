//! The policy language and the one decision.
//!
//! Pure: no IO, no async, no clock, no environment. Everything that reads bytes of the task turns them into
//! [`Evidence`]; [`Phase::decide`] turns an [`Attempt`] into a [`Permit`] or a [`Refusal`], and nothing else can
//! make a permit. What dials takes a permit, so forwarding without a decision does not compile (G1, G3, G4).

mod evidence;
mod name;
mod reason;

pub use evidence::{Attempt, Evidence, Hello, Host, Request, Upgrade};
pub use name::{InvalidName, Name};
pub use reason::{Reason, Refusal};
