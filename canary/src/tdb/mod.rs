//! A report in the shapes of TrialDesignBench 1.7.0, so that its `tdb report` reads it as if its own canary had run.
//!
//! Its canary tries two public sites and the hosts of the setup phase with curl, and writes down curl's exit code for each:
//! zero is reached, anything else is blocked. What can't be told has no code there, so it is left out and named as a reason: it
//! must not look blocked.

mod curl;
mod job;
mod shapes;

pub use job::write_job;
pub use shapes::{Codes, Probe, Shapes};
