//! What must hold for every text, however hostile (G16). Called by the fuzz target; panics where it does not hold.

use crate::{Ask, AuthMode, Diff, Judge, Labels, Table, versions_in};

/// A table that was read makes policies for all that may be run, and nothing else; the difference to itself is none.
pub fn agent_table(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    assert!(versions_in(text).iter().all(|version| text.contains(version.as_str())));
    let _ = Labels::from_inspect(text);
    let table = match Table::from_toml(text) {
        Ok(table) => table,
        Err(invalid) => return assert!(invalid.faults().count() > 0),
    };
    assert!(Diff::between(&table, &table).agents.is_empty());
    for row in table.rows() {
        for auth in AuthMode::ALL {
            for provider in table.providers() {
                let ask =
                    Ask { agent: &row.name, provider: Some(&provider.name), auth: Some(auth), version: None };
                match table.choose(&ask) {
                    Ok(choice) => {
                        let policy = choice
                            .policy(Judge::Usual)
                            .expect("the judge was checked")
                            .expect("hosts are names");
                        assert!(policy.phase("agent").is_some_and(|phase| !phase.entries().is_empty()));
                        assert!(row.usable().is_some());
                    }
                    Err(refused) => assert!(!refused.to_string().is_empty()),
                }
            }
        }
    }
}
