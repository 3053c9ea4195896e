//! The audit: what an agent was started with, what it did, and what its container lets it do.
//!
//! Pure: no IO, no clock. Whoever calls brings the bytes; a container's files come through [`config::Files`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

pub mod config;
pub mod container;
pub mod egress;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod malformed;
pub mod offer;
pub mod trajectory;

pub use malformed::Malformed;
