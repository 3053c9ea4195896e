//! What an image says of itself.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use crate::choice::Choice;

/// The labels of an image, as `docker image inspect` prints them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, String>);

/// Why an image is not the one that a row speaks of, or can't be told to be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LabelFault {
    /// The text is no inspect output.
    #[error("no output of `docker image inspect`: {0}")]
    Unreadable(String),
    /// It speaks of no image, or of several.
    #[error("it speaks of {0} images, and must speak of one")]
    Images(usize),
    /// The row demands no label.
    #[error("the row of {0} names no image label, so an image can't be checked by its labels")]
    NoneDemanded(String),
    /// The label is not there.
    #[error("the image has no label {label}, which must be {pinned}")]
    Missing {
        /// The label.
        label: String,
        /// What it must be.
        pinned: String,
    },
    /// The label names another version.
    #[error("the image's label {label} is {found:?}, and must be {pinned}")]
    Differs {
        /// The label.
        label: String,
        /// What it is.
        found: String,
        /// What it must be.
        pinned: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Image {
    config: Option<Config>,
    /// Podman has them here too.
    labels: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Config {
    labels: Option<BTreeMap<String, String>>,
}

impl Labels {
    /// Reads what `docker image inspect IMAGE` or `podman image inspect IMAGE` prints.
    pub fn from_inspect(text: &str) -> Result<Self, LabelFault> {
        let unreadable = |error: serde_json::Error| LabelFault::Unreadable(error.to_string());
        let images: Vec<Image> = match text.trim_start().starts_with('{') {
            true => vec![serde_json::from_str(text).map_err(unreadable)?],
            false => serde_json::from_str(text).map_err(unreadable)?,
        };
        let count = images.len();
        match (images.into_iter().next(), count) {
            (Some(image), 1) => {
                Ok(Self(image.config.and_then(|config| config.labels).or(image.labels).unwrap_or_default()))
            }
            _ => Err(LabelFault::Images(count)),
        }
    }

    /// Whether the image is the one that the row speaks of: every label that it demands is there and says the same.
    pub fn check(&self, choice: &Choice<'_>) -> Result<(), LabelFault> {
        let demanded = &choice.usable().labels;
        if demanded.is_empty() {
            return Err(LabelFault::NoneDemanded(choice.row().name.clone()));
        }
        for (label, pinned) in demanded {
            let (label, pinned) = (label.clone(), pinned.clone());
            match self.0.get(&label) {
                Some(found) if *found == pinned => {}
                Some(found) => {
                    return Err(LabelFault::Differs {
                        label,
                        found: found.chars().take(100).collect(),
                        pinned,
                    });
                }
                None => return Err(LabelFault::Missing { label, pinned }),
            }
        }
        Ok(())
    }

    /// One label.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests;
