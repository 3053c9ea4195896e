//! However a run ends, and whatever part of it is killed, the command has no way out and nothing stays behind.
//!
//! G6: closed before open, and closed after a part has gone. Parts are killed by the numbers of their processes, in
//! labs of their own.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod ends;
mod moments;
#[path = "../support/mod.rs"]
mod support;

use support::Mode;
use support::life::Life;

/// A run of the command of these tests, which does what it is told, with one permitted host.
fn start(mode: Mode) -> Life {
    Life::start(mode, &["--allow", "api.anthropic.com"], include_str!("command.py"))
}
