//! The web tools of OpenCode.

use closedbook_document::Value;

use super::agents::{Agent, Merged};
use super::permission::{Outcome, Permissions, Said, fits};
use super::places::Places;
use super::search::Search;
use crate::config::argv::Arguments;
use crate::config::layers::{brief, letters};
use crate::config::stops::Stops;
use crate::config::{Bringer, Kind, Says, Scene, Setting, State, ToolReport};

const TOOLS: [&str; 2] = ["webfetch", "websearch"];

pub(super) fn audit(
    scene: &mut Scene<'_>,
    arguments: &Arguments<'_>,
    places: &Places,
    merged: &Merged,
    stops: &Stops,
) {
    let agent = merged.started(arguments.last("--agent").and_then(|given| given.value()));
    let attached = arguments.last("--attach").and_then(|given| given.value());
    for tool in TOOLS {
        let mut report = report(scene, arguments, merged, &agent, tool);
        ignored(places, tool, &mut report.settings);
        if let Some(server) = attached {
            report.state = report.state.max(State::Unknown);
            report.why =
                format!("--attach {server}: the server's own settings decide, which are not seen here");
        }
        if report.state == State::Off {
            called(scene, merged, &agent, tool);
        }
        scene.tool(stops.doubt(report));
    }
}

fn report(
    scene: &mut Scene<'_>,
    arguments: &Arguments<'_>,
    merged: &Merged,
    agent: &str,
    tool: &str,
) -> ToolReport {
    let permissions = of_agent(merged, agent);
    let outcome = permissions.outcome(tool);
    let mut settings = rules(&permissions, tool);
    let (state, why) = match &outcome {
        Outcome::Denied(key, said) => {
            (State::Off, format!("{} ({}) denies {key:?}", said.origin, said.layer))
        }
        Outcome::Unclear(key, said) => (
            State::Unknown,
            format!("{}: what {key:?} becomes is written elsewhere: {}", said.origin, said.action),
        ),
        Outcome::Offered(key, said) if said.action == "ask" => (
            State::On,
            format!("{} says ask for {key:?}: the tool is offered, and --auto lets it run", said.origin),
        ),
        Outcome::Offered(key, said) => {
            (State::On, format!("{} ({}) says {} for {key:?}", said.origin, said.layer, said.action))
        }
        Outcome::Unsaid => (State::On, format!("nothing denies it: opencode offers {tool} by default")),
    };
    let (state, why) = match (tool, state) {
        ("websearch", State::On | State::Unknown) => {
            match Search::of(scene, arguments, merged, agent, &mut settings) {
                Search::There(there) => (state, format!("{there}; {why}")),
                Search::Absent(absent) => (State::Off, absent),
                Search::Unknown(unknown) => (State::Unknown, format!("{unknown}; {why}")),
            }
        }
        other => (other.1, why),
    };
    ToolReport { tool: tool.to_owned(), state, why, settings }
}

fn of_agent(merged: &Merged, name: &str) -> Permissions {
    let own = merged.agents.iter().find(|agent| agent.name == name);
    own.map_or_else(|| merged.everybody.clone(), |own| merged.everybody.followed_by(&own.own))
}

/// Every rule that fits, the one that decides first.
fn rules(permissions: &Permissions, tool: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (key, pattern, said) in permissions.lines().rev().filter(|(key, ..)| fits(key, tool)) {
        let says = match (settings.is_empty(), said.action.as_str()) {
            (false, _) => Says::Overridden("a later rule that fits too decides".into()),
            (true, "deny") if pattern == "*" => Says::Off,
            (true, "deny") => Says::Ignored("a deny of some patterns leaves the tool in the offer".into()),
            (true, "allow" | "ask") => Says::On,
            (true, _) => Says::Unclear("no action that opencode knows".into()),
        };
        let what = if pattern == "*" { key.to_owned() } else { format!("{key} for {pattern}") };
        settings.push(setting(&what, said, says));
    }
    for (key, said) in permissions.replaced().filter(|(key, _)| fits(key, tool)) {
        settings.push(setting(key, said, Says::Overridden("a stronger file says something else".into())));
    }
    let like = |key: &str| letters(key) == tool && !fits(key, tool);
    for (key, _, said) in permissions.lines().filter(|(key, ..)| like(key)) {
        let why = format!("the tool's name is {tool}; nothing else fits it");
        settings.push(setting(key, said, Says::Ignored(why)));
    }
    settings
}

fn setting(key: &str, said: &Said, says: Says) -> Setting {
    Setting { what: format!("{key}: {}", said.action), origin: said.origin.clone(), layer: said.layer, says }
}

/// `$OPENCODE_PERMISSION` is JSON and yet no table of permissions.
fn ignored(places: &Places, tool: &str, settings: &mut Vec<Setting>) {
    let Some(variable) = &places.variable else { return };
    let why = match &variable.root.value {
        Value::Table(_) if variable.root.at_path(&["permission", tool]).is_some() => {
            "the variable holds what stands under `permission`, not the whole file"
        }
        Value::Table(_) => return,
        _ => "the variable holds a table, such as {\"webfetch\": \"deny\"}",
    };
    settings.push(Setting {
        what: format!("OPENCODE_PERMISSION={}", brief(&variable.root)),
        origin: super::permission::Places::origin(variable, 0),
        layer: variable.layer,
        says: Says::Ignored(why.into()),
    });
}

/// Agents that the one that was started can call, and that have the tool all the same.
fn called(scene: &mut Scene<'_>, merged: &Merged, started: &str, tool: &str) {
    let callable = |agent: &&Agent| agent.name != started && agent.is_callable() && agent.speaks;
    let mut bringers = Vec::new();
    for agent in merged.agents.iter().filter(callable) {
        let Outcome::Offered(key, said) = of_agent(merged, &agent.name).outcome(tool) else { continue };
        let why = format!("this agent has {tool} by {key:?}, and other agents can call it");
        let (kind, name, origin) = (Kind::Subagent, agent.name.clone(), said.origin);
        bringers.push(Bringer { kind, name, origin, state: State::On, why });
    }
    bringers.into_iter().for_each(|bringer| scene.brings(bringer));
}
