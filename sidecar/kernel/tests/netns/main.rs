//! Tests that run in network namespaces of their own: see [`world`].

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

mod lo;
mod packet_log;
mod ruleset;
mod traffic;
mod world;
