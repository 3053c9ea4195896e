//! What must hold for every input, however hostile (G16). Called by the fuzz target; panics where it does not hold.

use crate::offer::{How, Offer, Reach, Tape, Weight, judge};
use crate::{config, container, egress, trajectory};

/// A tape is read or malformed; what is read of it never says more than it shows.
pub fn tape(bytes: &[u8]) {
    const NAMES: [&str; 2] = ["WebSearch", "web__run"];
    let tape = match Tape::read("tape", bytes) {
        Ok(tape) => tape,
        Err(malformed) => return assert!(!malformed.to_string().is_empty()),
    };
    let offer = Offer::read(&tape, &String::from_utf8_lossy(bytes), &NAMES);
    let weight = judge(&NAMES, &offer, &offer).weight();
    let is_clear = offer.turns > 0 && offer.unread.is_empty();
    assert!(is_clear || weight >= Weight::Unknown);
    // G15: a web tool that is offered with the switches is a failure, however it is offered.
    let is_web = offer.web().any(|(tool, reach)| reach == Reach::Web && tool.how != How::Mentioned);
    assert!(!is_web || weight == Weight::Failure);
}

/// A transcript is read or malformed; one in which the agent did nothing is no clean bill.
pub fn transcript(bytes: &[u8]) {
    let read = trajectory::read("t", bytes, None, None);
    assert!(read.acted || !read.malformed.is_empty());
    assert!(read.format.is_some() || !read.malformed.is_empty());
    assert!(read.findings.iter().all(|finding| finding.what.chars().count() <= 300));
    // A database in two pieces, the second being what was not written back yet.
    if let Some((database, wal)) = bytes.split_at_checked(bytes.len() / 2) {
        let _ = trajectory::read("t", database, Some(wal), Some(trajectory::Format::Opencode));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let call = serde_json::json!({ "steps": [{ "step_id": 1, "source": "agent", "message": "", "tool_calls": [
            { "tool_call_id": "1", "function_name": "bash", "arguments": { "command": text } },
        ] }], "schema_version": "ATIF-v1.2", "session_id": "s", "agent": { "name": "a", "version": "1" } });
        let read = trajectory::read("t", call.to_string().as_bytes(), None, None);
        assert!(read.acted && read.malformed.is_empty());
    }
}

/// What engines say is read or malformed, and only what was read whole and has a container can be clean.
pub fn containers(bytes: &[u8]) {
    let report = container::audit(&[container::Input { file: "c", bytes }], &container::Options::default());
    let is_clean = report.outcome == container::Outcome::Clean;
    assert!(!is_clean || report.malformed.is_empty() && !report.containers.is_empty());
}

/// A decision log is read line by line; what is no record is told.
pub fn decision_log(bytes: &[u8]) {
    let mut log = egress::Log::default();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        log.line("log", number, line);
    }
    let report = log.end(None);
    let is_clean = report.outcome == egress::Outcome::Clean;
    assert!(!is_clean || report.records > 0 && report.malformed.is_empty());
}

/// Whatever stands in the files, arguments and variables of a start, every auditor comes to an end; and a job of a harness is
/// read or malformed.
pub fn start(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let table = closedbook_agents::Table::embedded().expect("it is tested");
    for row in table.rows().filter(|row| row.usable().is_some()) {
        let mut files = config::MemoryFiles::default();
        for path in row.usable().into_iter().flat_map(|usable| &usable.config) {
            let path = path.replacen('~', "/root", 1);
            let path = if path.starts_with('/') { path } else { format!("/work/{path}") };
            files = files.with(&path.replace('*', "x"), bytes);
        }
        let words = text.lines().map(|line| (line.to_owned(), config::Origin::Default)).collect();
        let launch = config::Launch {
            argv: Some(words),
            env: text
                .lines()
                .filter_map(|line| line.split_once('='))
                .map(|(name, value)| (name.to_owned(), (value.to_owned(), config::Origin::Default)))
                .collect(),
            env_is_whole: true,
            home: "/root".into(),
            workdir: "/work".into(),
            uid: Some(0),
            version: None,
            files: &files,
        };
        let report = config::audit(&row.name, &launch).expect("every row has its auditor");
        assert!(!report.tools.iter().any(|tool| tool.why.is_empty()));
    }
    for name in ["job.json", "job.yaml"] {
        if let Err(malformed) = config::harbor::read(name, bytes) {
            assert!(!malformed.reason.is_empty());
        }
    }
}
