//! Which hosts a CLI asked for, from the decision log.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use crate::exit::Failure;
use crate::scratch::cannot;

/// A host, and how often it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Contact {
    /// The name; the address if none was told.
    pub(super) host: String,
    /// Connections, requests and questions that were let through.
    pub(super) allowed: u64,
    /// Those that were not.
    pub(super) refused: u64,
}

/// Reads a log: the hosts in the order in which they were first asked for.
pub(super) fn read(path: &Path) -> Result<Vec<Contact>, Failure> {
    let file = File::open(path).map_err(|error| cannot("read", path, &error))?;
    of(BufReader::new(file))
        .map_err(|line| Failure::bug(format!("line {line} of the decision log is no record")))
}

fn of(log: impl BufRead) -> Result<Vec<Contact>, usize> {
    let mut contacts: Vec<Contact> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (number, line) in (1_usize..).zip(log.lines()) {
        let record: Value = serde_json::from_str(&line.map_err(|_| number)?).map_err(|_| number)?;
        let field = |name: &str| record.get(name).and_then(Value::as_str);
        let host = field("name").or_else(|| field("original")).unwrap_or("?");
        let place = *places.entry(host.to_owned()).or_insert_with(|| {
            contacts.push(Contact { host: host.to_owned(), allowed: 0, refused: 0 });
            contacts.len() - 1
        });
        let Some(contact) = contacts.get_mut(place) else { continue };
        // One that was cut, by the end of the run, had been let through.
        match field("verdict") {
            Some("deny") => contact.refused += 1,
            _ => contact.allowed += 1,
        }
    }
    Ok(contacts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_counted_in_order() {
        let log = r#"{"kind":"dns","name":"b.example","verdict":"allow"}
{"kind":"dns","name":"a.example","verdict":"deny"}
{"kind":"tls","name":"b.example","verdict":"cut"}
{"kind":"packet","name":null,"original":"192.0.2.1:123","verdict":"deny"}
"#;
        let found = of(log.as_bytes()).unwrap();
        let told: Vec<_> = found.iter().map(|one| (one.host.as_str(), one.allowed, one.refused)).collect();
        assert_eq!(told, [("b.example", 2, 0), ("a.example", 0, 1), ("192.0.2.1:123", 0, 1)]);
        assert_eq!(of(&b"{}\nx"[..]), Err(2));
        assert_eq!(of(&b"{}\n\xff"[..]), Err(2));
        assert_eq!(of(&b""[..]), Ok(vec![]));
    }
}
