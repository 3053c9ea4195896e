//! What a canary leaves behind: the evidence, what follows from it, and how it is shown.
//!
//! The evidence is what was seen; the [`Judgement`] follows from it by [`judge`](judgement::judge) and nothing else, so
//! that whoever has the file can judge again (G18).

pub mod evidence;
pub mod judgement;
#[cfg(test)]
mod tests;

pub use evidence::{Baseline, Evidence, Fact, Subject};
pub use judgement::{Judgement, Overall, ProbeVerdict, TryVerdict};
