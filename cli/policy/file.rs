//! Reads policy files, and prints what is said about them.

use std::path::Path;

use closedbook_policy::{Fault, InvalidPolicy, Policy};

use crate::exit::Failure;
use crate::input;
pub(super) use crate::output::{print, print_json};

/// More than any policy has, so that a device or an endless pipe does not fill the memory.
const MOST: u64 = 2 << 20;

/// A policy file that is none.
pub(super) enum Unusable {
    /// It can't be read.
    Unreadable(String),
    /// It was read, and has faults.
    Faulty(InvalidPolicy),
}

/// Reads the policy in a file, TOML or JSON; `-` is standard input.
pub(super) fn load(path: &Path) -> Result<Policy, Unusable> {
    let text = input::text(path, MOST).map_err(Unusable::Unreadable)?;
    Policy::from_text(&text).map_err(Unusable::Faulty)
}

impl Unusable {
    /// The failure for people: one line for each fault.
    pub(super) fn failure(self, path: &Path) -> Failure {
        let path = match path.as_os_str() == "-" {
            true => "on standard input".into(),
            false => path.display().to_string(),
        };
        let faults = match self {
            Unusable::Unreadable(why) => return Failure::usage(format!("can't read policy {path}: {why}")),
            Unusable::Faulty(invalid) => invalid,
        };
        let lines: Vec<String> = faults.faults().map(Fault::to_string).collect();
        match lines.as_slice() {
            [line] => Failure::usage(format!("policy {path}: {line}")),
            lines => {
                Failure::usage(format!("policy {path} has {} faults\n  {}", lines.len(), lines.join("\n  ")))
            }
        }
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Unusable::Unreadable(why) => serde_json::json!({ "valid": false, "error": why }),
            Unusable::Faulty(invalid) => {
                let fault = |fault: &Fault| {
                    serde_json::json!({
                        "line": fault.line,
                        "column": fault.column,
                        "field": fault.field,
                        "message": fault.kind.to_string(),
                    })
                };
                serde_json::json!({ "valid": false, "faults": invalid.faults().map(fault).collect::<Vec<_>>() })
            }
        }
    }
}
