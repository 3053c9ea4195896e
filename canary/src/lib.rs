//! The canary: every practical way out of a trial, tried from inside it, and a verdict that can't pass by accident (G14).
//!
//! What is tried is the [`catalogue`](catalogue()): one [`Probe`] for each technique. [`plan`](engine::plan) says which of them can be
//! tried here and why the others can't; the [`engine`] tries them, in processes of their own for each level of privilege,
//! and notes what was [`seen`](Seen). Nothing is judged where it is tried: [`judge`](verdict::judge) is a pure function of
//! what was wanted, what was seen, what the same technique did where nothing was in its way (the *baseline*), and what
//! arrived at the *witness*, a server of the operator's own. So a report can be judged again from the file alone (G18).
//!
//! Two rules run through everything. A bare TCP connection proves nothing, since a transparent proxy accepts every SYN:
//! *allowed* means that a nonce, or a certificate good for the name, came back at the application layer. And a failure
//! proves nothing either: *blocked* means that the same thing works where it is allowed to, and that nothing arrived.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

pub mod aim;
pub mod engine;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod gate;
mod helper;
mod nonce;
mod probe;
mod probes;
pub mod program;
pub mod report;
mod seen;
pub mod surroundings;
pub mod targets;
pub mod tdb;
mod trial;
pub mod verdict;
pub mod wire;
pub mod witness;

pub use nonce::Nonce;
pub use probe::{Group, Level, Moment, Need, Probe, Source};
pub use probes::{catalogue, find};
pub use seen::Seen;
pub use trial::{Trial, Try, Want};
