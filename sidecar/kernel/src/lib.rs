//! The one crate that talks to the kernel.
//!
//! Everything that needs a system call outside the standard library is here: packet rules and their reading
//! back ([`nft`]), the loopback device and its routes ([`lo`]).

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

pub mod lo;
mod netlink;
pub mod nft;
