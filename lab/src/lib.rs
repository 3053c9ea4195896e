//! A fake internet in a network namespace of its own.
//!
//! In the namespace every address is local, so a server that listens on the wildcard address *is* every host of the
//! internet: [`serve`] answers DNS for the names of a [`World`], TLS and HTTP for all of them, and something on every
//! usual port. Whatever arrives, on any protocol, is written down by the [`Witness`]. There is no way out of the
//! namespace, so nothing that is tried in it can reach the real network.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

mod authority;
mod control;
mod datagram;
mod dns;
mod environment;
mod error;
mod fault;
mod gullible;
mod lab;
mod listen;
pub mod load;
mod opening;
pub mod ports;
mod room;
mod settle;
mod site;
mod tape;
mod tcp;
mod udp;
mod wire;
mod witness;
mod world;

pub use authority::{Authority, NAMELESS};
pub use control::Control;
pub use environment::{ca_environment, wgetrc, wgetrc_path};
pub use error::LabError;
pub use fault::{Fault, Faults, UnknownFault};
pub use lab::{Running, Sctp, serve};
pub use room::{Lab, LabName, Place, Plan, Room};
pub use site::pattern;
pub use tape::{Recording, Said, Taped};
pub use witness::{Arrival, Kind, Witness, find_nonce, fresh_nonce};
pub use world::{
    Answer, DEAD, Dead, DeadRoute, Host, QUIET_V4, RESOLVER_V4, RESOLVER_V6, Role, WITNESS, WITNESS_V4,
    WITNESS_V6, WITNESS_ZONE, World,
};
