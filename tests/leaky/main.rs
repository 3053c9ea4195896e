//! The test of the canary itself: sidecars that leak in one way each, and one that does not.
//!
//! Each hole is a sound sidecar with one thing changed. The probe that is there to find it must find it, and no other may
//! fail; on the sound one everything passes, or "no other" would mean nothing. Where the environment lies, nothing passes.
//!
//! Every sidecar has a lab of its own, a task namespace joined to it by a wire, and a container in that namespace in which
//! the canary works, as the agent's user and as root with what Docker leaves it. What the same probes do with no sidecar
//! at all is found out once. No packet leaves the machine.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod hole;
mod rig;
#[path = "../support/mod.rs"]
mod support;

mod holes;
mod lies;
mod sound;
