//! What marks one try among all others, wherever it arrives.

use std::fmt;

use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};

/// How all of them begin, in lower case.
const START: &str = "n0nce-";
/// Octets of one.
const LENGTH: usize = 22;

/// `N0NCE-` and 16 hex digits: 22 octets, letters, digits and a hyphen alone, so that it fits a host label, a TLS session
/// id (32 octets) and a datagram. A witness finds it in bytes of any protocol; case does not count.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(String);

impl Nonce {
    /// One that nobody has used. `None` if the system has no random numbers to give.
    pub fn fresh() -> Option<Self> {
        let mut octets = [0_u8; 8];
        SystemRandom::new().fill(&mut octets).ok()?;
        let digits: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        Some(Self(format!("N0NCE-{digits}")))
    }

    /// The mark of a try that could not be made.
    pub(crate) fn none() -> Self {
        Self(String::new())
    }

    /// Whether it looks like one.
    pub fn is_well_formed(&self) -> bool {
        self.0.len() == LENGTH && Self::all_in(&self.0).next() == Some(self.label())
    }

    /// All that are in a text, lower case.
    pub(crate) fn all_in(text: &str) -> impl Iterator<Item = String> + use<> {
        let text = text.to_ascii_lowercase();
        let found: Vec<String> = text
            .match_indices(START)
            .filter_map(|(at, _)| text.get(at..at + LENGTH))
            .filter(|mark| mark.bytes().skip(START.len()).all(|byte| byte.is_ascii_hexdigit()))
            .map(str::to_owned)
            .collect();
        found.into_iter()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As a host label: lower case.
    pub fn label(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
