//! The one crate that talks to the kernel: namespaces, id maps, mounts, capabilities, descriptor passing, system-call
//! filters and nftables. Every `unsafe` block of the workspace is here; all other crates forbid it.
//!
//! Nothing here decides anything about traffic. Nothing here reads a byte that the task sent.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

pub mod addresses;
pub mod descriptors;
pub mod fork;
pub mod idmap;
pub mod landlock;
pub mod lo;
pub mod mountinfo;
pub mod mounts;
pub mod namespace;
mod netlink;
pub mod nft;
pub mod packet_log;
pub mod privileges;
pub mod seccomp;
pub mod sockets;
pub mod unix_sockets;
