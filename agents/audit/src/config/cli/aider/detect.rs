//! Whether aider fetches the addresses of a prompt.

use super::settings::{Settings, Spoken, truth};
use crate::config::argv::Arguments;
use crate::config::stops::Stops;
use crate::config::{Origin, Says, Scene, Setting, State, ToolReport};

const OPTION: &str = "detect-urls";

/// Values at which aider ends.
pub(super) fn audit(
    scene: &mut Scene<'_>,
    arguments: &Arguments<'_>,
    settings: &Settings,
    stops: &mut Stops,
) {
    let spoken = settings.spoken(arguments, OPTION);
    for spoken in spoken.iter().filter(|spoken| spoken.layer == ".env file" || spoken.layer == "environment")
    {
        if truth(&spoken.value).is_none() {
            let reason =
                format!("{} is neither true nor false, and aider ends with an error at it", spoken.what);
            stops.refused(scene, spoken.origin.to_string(), reason);
        }
    }
    let odd = settings.variables.iter().chain(&settings.environment);
    for variable in odd.filter(|variable| variable.name == "AIDER_NO_DETECT_URLS") {
        scene.remark(variable.origin.clone(), "no variable of aider's: AIDER_DETECT_URLS=false is the one");
    }
    if let Some(playwright) = arguments.set("--disable-playwright") {
        let text = "without a browser aider fetches pages all the same";
        scene.remark(playwright.origin.clone(), text);
    }
}

pub(super) fn report(settings: &Settings, arguments: &Arguments<'_>) -> ToolReport {
    let mut said: Vec<(Setting, Option<bool>)> = Vec::new();
    // Of the two flags the last one counts.
    for given in arguments.given.iter().rev() {
        let on = match given.flag {
            "--detect-urls" => true,
            "--no-detect-urls" => false,
            _ => continue,
        };
        said.push((setting(given.flag.to_owned(), given.origin, "flag"), Some(on)));
    }
    let spoken = settings.spoken(arguments, OPTION).into_iter().map(|spoken| (spoken, false));
    // `no-detect-urls: true` in a file switches it on: the value is the switch's, whichever name it stands at.
    let negated = settings.files.iter().rev().filter_map(|layer| {
        let found = layer.get(&["no-detect-urls"])?;
        let value = found.value.boolean().map(|value| value.to_string());
        let value = value.or_else(|| found.value.text().map(str::to_owned))?;
        let what = format!("no-detect-urls: {value}");
        Some((Spoken { what, value, origin: found.origin, layer: layer.name }, true))
    });
    for (spoken, _) in spoken.chain(negated) {
        let on = truth(&spoken.value);
        said.push((setting(spoken.what, &spoken.origin, spoken.layer), on));
    }
    let decides = said.iter().find_map(|(setting, on)| Some((on.as_ref().copied()?, setting.clone())));
    let (state, why) = match &decides {
        Some((false, setting)) => (State::Off, format!("{} says {}", setting.origin, setting.what)),
        Some((true, setting)) => (State::On, format!("{} says {}", setting.origin, setting.what)),
        None => (
            State::On,
            "aider fetches every address of the prompt; --no-detect-urls keeps it from it".to_owned(),
        ),
    };
    let mut decided = false;
    let settings = said.into_iter().map(|(setting, on)| {
        let says = match on {
            None => Says::Unclear("neither true nor false".into()),
            Some(_) if decided => Says::Overridden("a stronger layer decides".into()),
            Some(true) if setting.what.starts_with("no-") => Says::Ignored(
                "true switches the detection on, whichever of the two names it stands at".into(),
            ),
            Some(true) => Says::On,
            Some(false) => Says::Off,
        };
        decided |= on.is_some();
        Setting { says, ..setting }
    });
    ToolReport { tool: "URL detection".into(), state, why, settings: settings.collect() }
}

fn setting(what: String, origin: &Origin, layer: &'static str) -> Setting {
    Setting { what, origin: origin.clone(), layer, says: Says::On }
}
