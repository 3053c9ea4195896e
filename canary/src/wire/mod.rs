//! The protocols that probes speak, by hand: blocking sockets with a time limit on every step.

pub mod cast;
pub mod child;
pub mod dns;
pub mod ech;
pub mod frame;
pub mod h2;
pub mod hello;
pub mod http;
pub mod ip;
pub mod kept;
pub mod large;
pub mod lookup;
pub mod quic;
pub mod raw;
pub mod relay;
pub mod reply;
pub mod routes;
pub mod series;
pub mod shape;
pub mod tcp;
pub mod tls;
pub mod udp;

use std::time::Duration;

/// How long a try waits for an answer that a working network gives in milliseconds.
pub const PATIENCE: Duration = Duration::from_millis(2500);
/// How long a permitted host may take, which may be far away.
pub const LONG_PATIENCE: Duration = Duration::from_secs(10);
/// Octets of an answer that are looked at.
pub const LOOKED_AT: usize = 16 * 1024;
