//! The sidecar: `inner` prepares a namespace and binds its listeners, `outer` decides and dials.
//!
//! The two share nothing but what [`handoff`] hands over. `inner` has CAP_NET_ADMIN for a moment and reads nothing the task sends;
//! `outer` reads what the task sends and holds no privilege (G17).
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

pub mod control;
pub mod evidence;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod handoff;
pub mod inner;
pub mod journal;
pub mod listeners;
pub mod outer;
