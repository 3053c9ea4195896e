//! One thing that was found.

use closedbook_document::Place;
use serde::Serialize;

use super::facts::Spot;

/// How much it matters; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The enforcement can be undone or walked around.
    Breaks,
    /// One more thing must go wrong first, or what is recorded can be falsified.
    Weakens,
    /// What it means can't be told from the input. Never the same as harmless.
    Unknown,
    /// Good to know.
    Note,
}

impl Level {
    /// All levels, the worst first.
    pub const ALL: [Level; 4] = [Level::Breaks, Level::Weakens, Level::Unknown, Level::Note];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Level::Breaks => "breaks",
            Level::Weakens => "weakens",
            Level::Unknown => "unknown",
            Level::Note => "note",
        }
    }
}

/// A finding, with its place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// A stable word for the kind of finding.
    pub id: &'static str,
    /// What is there.
    pub what: String,
    /// What it would allow, in one sentence.
    pub allows: String,
    /// What to write instead.
    pub remedy: String,
    /// The file.
    pub file: String,
    /// Where in it, when it is written there and does not follow from what is missing.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// The field: `services.main.cap_add[0]`.
    pub field: String,
}

/// A finding before its place is looked up.
#[derive(Debug, Clone)]
pub(super) struct Remark {
    pub(super) level: Level,
    pub(super) id: &'static str,
    pub(super) what: String,
    pub(super) allows: String,
    pub(super) remedy: String,
    pub(super) spot: Spot,
}

impl Remark {
    pub(super) fn new(level: Level, id: &'static str, spot: &Spot, what: impl Into<String>) -> Self {
        let (allows, remedy) = (String::new(), String::new());
        Self { level, id, what: what.into(), allows, remedy, spot: spot.clone() }
    }

    /// The sentence about what it would allow.
    pub(super) fn allows(mut self, allows: impl Into<String>) -> Self {
        self.allows = allows.into();
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }
}
