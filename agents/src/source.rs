//! Where a row's facts come from.

use serde::Serialize;

/// Something that was read or measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    /// What it is.
    pub title: String,
    /// The day it was read or measured, as `2026-11-30`.
    pub date: String,
    /// Where it can be read, if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}
