//! The agent table and the auditors speak of the same agents and tools.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};

use closedbook_agents::Table;
use closedbook_audit::config::{Launch, MemoryFiles, audit, names};

/// G15: for every agent that may be run there is an auditor, and it speaks of every web tool of the row.
#[test]
fn every_row_has_its_auditor() {
    let table = Table::embedded().unwrap();
    let rows: BTreeSet<&str> =
        table.rows().filter(|row| row.usable().is_some()).map(|row| row.name.as_str()).collect();
    assert_eq!(names().collect::<BTreeSet<_>>(), rows);
    for row in table.rows() {
        let Some(usable) = row.usable() else {
            assert!(audit(&row.name, &launch(&MemoryFiles::default())).is_none(), "{}", row.name);
            continue;
        };
        let report = audit(&row.name, &launch(&MemoryFiles::default())).unwrap();
        let audited: BTreeSet<&str> = report.tools.iter().map(|tool| tool.tool.as_str()).collect();
        let of_row: BTreeSet<&str> = usable.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(audited, of_row, "{}", row.name);
    }
}

fn launch(files: &MemoryFiles) -> Launch<'_> {
    Launch {
        argv: Some(Vec::new()),
        env: BTreeMap::new(),
        env_is_whole: true,
        home: "/root".into(),
        workdir: "/work".into(),
        uid: None,
        version: None,
        files,
    }
}

/// What the row calls a switch, set and nothing else, the auditor calls off.
#[test]
fn the_switches_of_a_row_are_what_its_auditor_obeys() {
    let table = Table::embedded().unwrap();
    let mut on = Vec::new();
    for row in table.rows() {
        let Some((usable, recipe)) = row.usable().and_then(|usable| Some((usable, usable.probe.as_ref()?)))
        else {
            continue;
        };
        let switches = usable.tools.iter().flat_map(|tool| &tool.switches);
        let settable = switches.filter(|switch| !matches!(&switch.place, closedbook_agents::Place::File { file, .. } if file.starts_with('/')));
        let settings = closedbook_agents::Settings::of(recipe, "hello", settable).unwrap();
        let origin = |number| closedbook_audit::config::Origin::Argument { number };
        let mut files = MemoryFiles::default();
        for (path, text) in &settings.files {
            files = files.with(&path.replacen('~', "/root", 1), text.as_bytes());
        }
        let variable = |(name, value): (&String, &String)| {
            (name.clone(), (value.clone(), closedbook_audit::config::Origin::Variable { name: name.clone() }))
        };
        let launch = Launch {
            argv: Some(
                settings.args.iter().enumerate().map(|(at, word)| (word.clone(), origin(at + 1))).collect(),
            ),
            env: settings.env.iter().map(variable).collect(),
            ..launch(&files)
        };
        let report = audit(&row.name, &launch).unwrap();
        for tool in report.tools.iter().filter(|tool| tool.state != closedbook_audit::config::State::Off) {
            on.push(format!("{}/{}: {:?}, {}", row.name, tool.tool, tool.state, tool.why));
        }
        on.extend(report.malformed.iter().map(|malformed| format!("{}: {malformed}", row.name)));
    }
    assert_eq!(on, [""; 0]);
}
