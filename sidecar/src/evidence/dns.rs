//! DNS messages (RFC 1035), the little of it that a resolver needs which asks nobody.
//!
//! Reading: one question, perhaps one OPT record, nothing else. Writing: answers made from scratch, in which no byte
//! of the question but its name and id comes back, and none goes anywhere (G9).

mod answer;
mod error;
mod frame;
mod name;
mod opt;
mod question;
mod ruling;
#[cfg(test)]
mod tests;

pub use answer::{Answer, MAX_UDP, Transport};
pub use error::{DnsError, Malformed};
pub use frame::{MAX_QUESTION, frame, framed};
pub use opt::Edns;
pub use question::Question;
pub use ruling::{Ruling, ruling};

/// The class of the Internet (RFC 1035 section 3.2.4).
const IN: u16 = 1;
const A: u16 = 1;
const SOA: u16 = 6;
const AAAA: u16 = 28;
const OPT: u16 = 41;
