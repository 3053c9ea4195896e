//! From bytes of the task to evidence: pure parsers, no IO, no clock, no panic.
//!
//! Each says *incomplete* apart from *refused*, so that no caller can take a hello that has not arrived yet for one
//! that names nobody (G4), and each does work linear in the bytes it is given, however they are cut up (G16).
//!
//! [`FirstBytes`] is what a fresh connection needs; [`http::Gate`] goes on where it ends, for every later request;
//! [`dns`] is on its own, and so is [`packet`], which reads what the kernel refused.

pub mod client_hello;
mod cursor;
pub mod dns;
mod first_bytes;
pub mod http;
pub mod packet;
pub mod protocol;

use closedbook_policy::Refusal;

pub use first_bytes::FirstBytes;

/// What the bytes read so far amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sniff<T> {
    /// A beginning of something that may still be valid. The caller owns the deadline and the patience.
    Incomplete,
    /// The whole of it.
    Found(T),
    /// No continuation of these bytes could be accepted.
    Refused(Refusal),
}

impl<T> Sniff<T> {
    /// The same state of affairs, about something made of what was found.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Sniff<U> {
        match self {
            Sniff::Incomplete => Sniff::Incomplete,
            Sniff::Found(found) => Sniff::Found(f(found)),
            Sniff::Refused(refusal) => Sniff::Refused(refusal),
        }
    }
}
