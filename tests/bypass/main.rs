//! Every known way round closedbook, tried by Python programs in namespaces of their own.
//!
//! Each technique is tried four times in one run of `closedbook run --lab --allow api.anthropic.com`:
//!
//! 1. in the lab's own namespace, where its nonce must arrive at the witness: else the refusal below means nothing;
//! 2. in the sealed command: refused at once, by the right message, with the reason in the log, and no nonce arrives;
//! 3. from outside, with every capability in the user namespace that owns the command's network;
//! 4. the same with the ruleset flushed (G2).
//!
//! Root and rootless, where the tests run as root. No packet leaves the machine.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod battery;
mod capable;
#[path = "../support/mod.rs"]
mod support;

mod dns;
mod fast;
mod host_sockets;
mod http_forms;
mod http_hosts;
mod http_smuggling;
mod ipv6;
mod other_sockets;
mod own_ports;
mod packets;
mod privilege;
mod program;
mod raw_bytes;
mod terminal;
mod tls_forms;
mod tls_names;
mod transports;
mod udp;
