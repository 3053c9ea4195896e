//! Why a text is no table.

use std::fmt;

use closedbook_document::Place;
use thiserror::Error;

/// A text that is no table. Shown with the place, where there is one, and the field.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct InvalidTable {
    place: Option<Place>,
    faults: Vec<String>,
}

impl InvalidTable {
    pub(crate) fn syntax(source: &str, error: &toml::de::Error) -> Self {
        let place = error.span().map(|span| Place::of(source.as_bytes(), span.start));
        Self { place, faults: vec![error.message().trim().replace('\n', ", ")] }
    }

    /// `None` if there is no fault.
    pub(crate) fn from_faults(faults: Vec<String>) -> Option<Self> {
        (!faults.is_empty()).then_some(Self { place: None, faults })
    }

    pub(crate) fn one(fault: impl Into<String>) -> Self {
        Self { place: None, faults: vec![fault.into()] }
    }

    /// Every fault that was found, at least one.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        self.faults.iter().map(|fault| match self.place {
            Some(place) => format!("{place}: {fault}"),
            None => fault.clone(),
        })
    }
}

impl fmt::Display for InvalidTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults().collect::<Vec<_>>().join("; "))
    }
}
