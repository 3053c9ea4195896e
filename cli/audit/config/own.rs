//! The start that this program is about to make itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use closedbook_agents::Choice;
use closedbook_audit::config::{self, Launch, Origin, Report, State};
use nix::unistd::getuid;

use super::folder::Folder;
use crate::exit::Failure;
use crate::output::harmless;

/// So many lines are shown; the audit itself has all.
const SHOWN: usize = 6;

/// What a person must be told before this command is run as this agent: web tools that are on, or may be.
pub(crate) fn warnings(choice: &Choice<'_>, command: &[OsString]) -> Result<Vec<String>, Failure> {
    let agent = choice.row().name.as_str();
    let files = Folder::open(Path::new("/"))?;
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let program = command.first().map(text).unwrap_or_default();
    // A script around the agent may start it with whatever it likes.
    let is_agent = program.rsplit('/').next() == Some(choice.usable().program.as_str());
    let argument = |(at, word): (usize, &OsString)| (text(word), Origin::Argument { number: at });
    let workdir = std::env::current_dir()
        .map_err(|error| Failure::host(format!("can't tell the current folder: {error}")))?;
    let env: BTreeMap<String, (String, Origin)> = std::env::vars_os()
        .map(|(name, value)| {
            let name = name.to_string_lossy().into_owned();
            (name.clone(), (value.to_string_lossy().into_owned(), Origin::Variable { name }))
        })
        .collect();
    let launch = Launch {
        argv: is_agent.then(|| command.iter().enumerate().skip(1).map(argument).collect()),
        home: env.get("HOME").map_or_else(|| "/".to_owned(), |(home, _)| home.clone()),
        env,
        env_is_whole: is_agent,
        workdir: workdir.to_string_lossy().into_owned(),
        uid: Some(getuid().as_raw()),
        version: None,
        files: &files,
    };
    let Some(report) = config::audit(agent, &launch) else {
        return Ok(vec![format!("nobody can tell whether {agent}'s web tools are off: no rules follow it")]);
    };
    Ok(lines(agent, &report))
}

fn lines(agent: &str, report: &Report) -> Vec<String> {
    let word = |state| if state == State::On { "is on" } else { "may be on" };
    let tools = report.tools.iter().filter(|tool| tool.state != State::Off);
    let tools = tools.map(|tool| format!("{} {}: {}", tool.tool, word(tool.state), tool.why));
    let brings = report.brings.iter().filter(|bringer| bringer.state == State::On);
    let brings = brings.map(|bringer| format!("{} brings the web: {}", bringer.name, bringer.why));
    let malformed = report.malformed.iter().map(ToString::to_string);
    let mut lines: Vec<String> =
        tools.chain(brings).chain(malformed).map(|line| harmless(&line).into_owned()).collect();
    if lines.is_empty() {
        return lines;
    }
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    let and = if more > 0 { format!("and {more} more; ") } else { String::new() };
    lines.push(format!("{and}closedbook audit config --agent {agent} says which setting decides, closedbook agents show {agent} what switches them off"));
    lines
}
