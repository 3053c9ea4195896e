//! The agent table: which hosts an agent needs in each phase, which web tools it has, and how they are switched off.
//!
//! The table is data (`table.toml`), embedded, and replaceable. It never guesses (G15): an agent, a version, a provider
//! or a login that it does not name is a [`Refused`] that says what would be accepted, and a policy can only be made
//! from a [`Choice`], which only [`Table::choose`] makes.
//!
//! Pure: no IO, no clock.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

mod choice;
mod diff;
mod fault;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod history;
mod host;
mod labels;
mod near;
mod raw;
mod read;
mod refused;
mod row;
mod settings;
mod source;
mod switch;
mod table;
mod version;

pub use choice::{Ask, Choice, Judge};
pub use diff::{AgentChange, Diff, HostChange};
pub use fault::InvalidTable;
pub use history::{History, HistoryFault};
pub use host::{Host, Needed};
pub use labels::{LabelFault, Labels};
pub use refused::Refused;
pub use row::{
    AuthMode, Condition, Disagreement, Effort, EffortLevel, Login, Probe, ProbeFile, Provider, Row, Standing,
    Usable,
};
pub use settings::{Settings, Unsettable};
pub use source::Source;
pub use switch::{Place, Runs, Switch, Tool};
pub use table::Table;
pub use version::{Version, versions_in};
