//! What an agent was started with: for every web tool of its row, off, on, or unknown, and which setting decides.
//!
//! Each CLI has its own files, its own precedence among them and its own way of passing over what it does not
//! understand. A module each knows one CLI as it was measured; [`Scene`] is what they all work with.
//!
//! Unknown is not off: what could not be read, a value of the wrong type, a version nobody measured.

mod argv;
mod assumed;
mod cli;
mod dotenv;
mod files;
mod front_matter;
pub mod harbor;
mod launch;
mod layers;
mod origin;
mod provider;
mod report;
mod routing;
mod scene;
mod stops;
mod weigh;

pub use cli::{audit, names};
pub use files::{Content, Files, MemoryFiles};
pub use launch::Launch;
pub use origin::Origin;
pub use report::{Bringer, Kind, Remark, Report, Says, Setting, State, ToolReport, Verdict};
pub use scene::{Document, Loaded, Scene};
