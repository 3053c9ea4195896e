//! The web tool of Codex, and its one switch.

use closedbook_document::{Node, Value};

use super::layers::{PROJECT, Setup, Trust};
use crate::config::layers::{Found, Layer, brief, find, letters};
use crate::config::stops::Stops;
use crate::config::{Origin, Says, Scene, Setting, State, ToolReport};

const KEY: &str = "web_search";

/// What the mode may be; each but the first offers the tool.
const MODES: [&str; 4] = ["disabled", "cached", "indexed", "live"];

pub(super) fn audit(scene: &mut Scene<'_>, setup: &Setup, mut stops: Stops) {
    let mut settings = Vec::new();
    let mut state = None;
    if let Some(requirements) = &setup.requirements {
        required(scene, requirements, &mut stops, &mut settings, &mut state);
    }
    for found in find(&setup.layers, &[KEY]) {
        chosen(scene, setup, &found, &mut stops, &mut settings, &mut state);
    }
    let (state, why) = state.unwrap_or((
        State::On,
        "no setting switches it off: without `web_search = \"disabled\"` codex offers it".to_owned(),
    ));
    for (layer, why) in &setup.idle {
        for (path, found) in layer.every().into_iter().filter(|(path, _)| looks_meant(path)) {
            settings.push(setting(&path, &found, Says::Ignored(why.clone())));
        }
    }
    for layer in setup.layers.iter().rev().chain(&setup.requirements) {
        let of_requirements = setup.requirements.as_ref().is_some_and(|own| own.name == layer.name);
        for (path, found) in layer.every() {
            let right = if of_requirements { "allowed_web_search_modes" } else { KEY };
            if looks_meant(&path) && path != [right] {
                settings.push(setting(&path, &found, Says::Ignored(misplaced(&path, of_requirements))));
            }
        }
    }
    let report = stops.doubt(ToolReport { tool: KEY.into(), state, why, settings });
    // One switch for both faces: the provider's tool, and the one that is described inside the tool `exec`.
    for tool in [KEY, "web__run"] {
        scene.tool(ToolReport { tool: tool.into(), ..report.clone() });
    }
}

/// `allowed_web_search_modes = ["disabled"]`, or `[]`.
fn required(
    scene: &mut Scene<'_>,
    requirements: &Layer,
    stops: &mut Stops,
    settings: &mut Vec<Setting>,
    state: &mut Option<(State, String)>,
) {
    let path = ["allowed_web_search_modes"];
    let Some(found) = requirements.get(&path) else { return };
    let modes: Option<Vec<&str>> = match &found.value.value {
        Value::List(items) => {
            items.iter().map(|item| item.text().filter(|mode| MODES.contains(mode))).collect()
        }
        _ => None,
    };
    let Some(modes) = modes else {
        refuse(
            scene,
            requirements,
            found.value,
            stops,
            "a list of \"disabled\", \"cached\", \"indexed\", \"live\"",
        );
        return;
    };
    let says = if modes.iter().all(|mode| *mode == "disabled") {
        *state = Some((State::Off, format!("{} allows no other mode, whatever else is set", found.origin)));
        Says::Off
    } else {
        Says::Overridden("it allows a mode that offers the tool, so what is chosen below decides".into())
    };
    settings.push(setting(&path.map(str::to_owned), &found, says));
}

fn chosen(
    scene: &mut Scene<'_>,
    setup: &Setup,
    found: &Found<'_>,
    stops: &mut Stops,
    settings: &mut Vec<Setting>,
    state: &mut Option<(State, String)>,
) {
    let path = [KEY.to_owned()];
    let Some(mode) = found.value.text().filter(|mode| MODES.contains(mode)) else {
        let expected = "one of \"disabled\", \"cached\", \"indexed\", \"live\"";
        match setup.layers.iter().find(|layer| layer.name == found.layer && stands_in(layer, found)) {
            Some(layer) => refuse(scene, layer, found.value, stops, expected),
            None => {
                let reason = format!("codex accepts {expected} for web_search, not {}", brief(found.value));
                stops.refused(scene, found.origin.to_string(), reason);
            }
        }
        settings.push(setting(&path, found, Says::Unclear("codex ends with an error at this value".into())));
        return;
    };
    let says = match (mode, &state) {
        (_, Some(_)) => Says::Overridden("a stronger layer decides".into()),
        ("disabled", None) if found.layer == PROJECT && setup.trust == Trust::ReadThough => {
            // What was measured is that such a file can switch the tool on. That it is read in every way of starting
            // codex was not, so it is no proof of off.
            let why = "the project's file says so, but the folder is not trusted: it may be left out";
            *state = Some((State::Unknown, format!("{}: {why}", found.origin)));
            Says::Unclear(why.into())
        }
        ("disabled", None) => {
            *state = Some((State::Off, format!("{} ({}) says \"disabled\"", found.origin, found.layer)));
            Says::Off
        }
        (mode, None) => {
            *state = Some((State::On, format!("{} ({}) says {mode:?}", found.origin, found.layer)));
            Says::On
        }
    };
    settings.push(setting(&path, found, says));
}

/// A value at which Codex ends with exit 1.
fn refuse(scene: &mut Scene<'_>, layer: &Layer, value: &Node, stops: &mut Stops, expected: &str) {
    let reason = format!("codex accepts {expected} here, not {}", brief(value));
    if let Some(document) = layer.document() {
        stops.because(format!("{}: {reason}", document.origin(value.at)));
        scene.malformed(document.fault(value.at, reason));
    } else {
        stops.because(reason);
    }
}

fn stands_in(layer: &Layer, found: &Found<'_>) -> bool {
    layer.document().is_some_and(|document| match &found.origin {
        Origin::File { path, .. } => *path == document.path,
        _ => false,
    })
}

/// Whether whoever wrote this key meant the web tool.
fn looks_meant(path: &[String]) -> bool {
    let within = path.first().is_some_and(|first| first == "mcp_servers" || first == "model_providers");
    !within && path.last().is_some_and(|key| letters(key).contains("websearch"))
}

fn misplaced(path: &[String], of_requirements: bool) -> String {
    match path.first().map(String::as_str) {
        _ if of_requirements => "the key of requirements.toml is `allowed_web_search_modes`".into(),
        Some("tools") => "this table sets how the tool searches, not whether it is offered".into(),
        Some("features") => "the features of this name are out of use and decide nothing".into(),
        Some("profiles") => "codex does not read [profiles]: a profile is a file NAME.config.toml".into(),
        _ => "codex passes over it: the key is `web_search`, at the top of the file".into(),
    }
}

fn setting(path: &[String], found: &Found<'_>, says: Says) -> Setting {
    let what = format!("{} = {}", path.join("."), brief(found.value));
    Setting { what, origin: found.origin.clone(), layer: found.layer, says }
}
