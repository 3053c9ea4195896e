//! Reads a policy document from a file, with errors that name the file, the line and the field.

use std::fs;
use std::path::Path;

use closedbook_policy::Policy;

use crate::exit::{Failure, chain};

/// A document is small; a larger file is not one.
const MOST_BYTES: u64 = 1 << 20;

/// Reads TOML, or JSON if the name ends in `.json` or the text begins with `{`.
pub(crate) fn read(path: &Path) -> Result<Policy, Failure> {
    let cannot = |what: &dyn std::fmt::Display| Failure::usage(format!("policy {}: {what}", path.display()));
    let size = fs::metadata(path).map_err(|error| cannot(&error))?.len();
    if size > MOST_BYTES {
        return Err(cannot(&format!("{size} bytes are more than the {MOST_BYTES} that a policy may have")));
    }
    let bytes = fs::read(path).map_err(|error| cannot(&error))?;
    let text = String::from_utf8(bytes)
        .map_err(|error| cannot(&format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to())))?;
    let json = path.extension().is_some_and(|ext| ext == "json") || text.trim_start().starts_with('{');
    let policy = if json { Policy::from_json(&text) } else { Policy::from_toml(&text) };
    policy.map_err(|error| cannot(&chain(&error)))
}
