//! What a canary leaves behind: the evidence, what follows from it, and how it is shown.
//!
//! The evidence is what was seen; the [`Judgement`] follows from it by [`judge`](judgement::judge) and nothing else, so
//! that whoever has the file can judge again (G18). A [`Report`] is both of them with a digest, and may be signed.

mod complete;
pub mod controls;
pub mod document;
pub mod evidence;
pub mod html;
pub mod judgement;
pub mod signature;
mod sound;
pub mod table;
pub mod tally;
#[cfg(test)]
mod tests;
pub mod verify;
pub mod waiver;

pub use document::{Report, Unreadable};
pub use evidence::{Baseline, Evidence, Fact, Subject};
pub use judgement::{Judgement, Overall, ProbeVerdict, TryVerdict};
pub use waiver::{Waiver, Waivers};
