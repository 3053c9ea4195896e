//! Whether OpenCode has a `websearch` tool at all: only with a model of its own providers, or if a variable says so.

use super::agents::Merged;
use crate::Malformed;
use crate::config::argv::Arguments;
use crate::config::{Origin, Says, Scene, Setting};

/// Variables that bring the tool: the first three search at mcp.exa.ai, the others at search.parallel.ai.
const ENABLERS: [&str; 5] = [
    "OPENCODE_ENABLE_EXA",
    "OPENCODE_EXPERIMENTAL",
    "OPENCODE_EXPERIMENTAL_EXA",
    "OPENCODE_ENABLE_PARALLEL",
    "OPENCODE_EXPERIMENTAL_PARALLEL",
];

/// What reads as false in such a variable.
const FALSE: [&str; 5] = ["0", "false", "no", "off", "n"];

const TRUE: [&str; 5] = ["1", "true", "yes", "on", "y"];

/// Whether there is the tool.
pub(super) enum Search {
    There(String),
    Absent(String),
    Unknown(String),
}

impl Search {
    pub(super) fn of(
        scene: &mut Scene<'_>,
        arguments: &Arguments<'_>,
        merged: &Merged,
        agent: &str,
        settings: &mut Vec<Setting>,
    ) -> Self {
        let mut odd = None;
        for name in ENABLERS {
            let Some((value, origin)) = scene.launch().env.get(name) else { continue };
            let word = value.trim().to_ascii_lowercase();
            let what = format!("{name}={value}");
            if TRUE.contains(&word.as_str()) {
                settings.push(setting(what, origin, Says::On));
                return Self::There(format!("${name} brings it"));
            }
            if !FALSE.contains(&word.as_str()) {
                // Measured: a schema error, exit 1.
                let reason = "neither true nor false: opencode ends with an error";
                scene.malformed(Malformed::whole(format!("${name}"), reason));
                settings.push(setting(what.clone(), origin, Says::Unclear("neither true nor false".into())));
                odd = Some(what);
            }
        }
        let own = merged.agents.iter().find(|found| found.name == agent);
        let model = arguments.last("--model").and_then(|given| given.value().map(str::to_owned));
        let model = model.or_else(|| own.and_then(|own| own.model.clone())).or_else(|| merged.model.clone());
        let provider = model.as_deref().and_then(|model| model.split('/').next());
        match (provider, odd) {
            (Some(provider @ ("opencode" | "opencode-go")), _) => {
                Self::There(format!("a model of the provider {provider} brings it"))
            }
            (_, Some(odd)) => Self::Unknown(format!("{odd} is neither true nor false")),
            (Some(provider), None) if scene.launch().env_is_whole => Self::Absent(format!(
                "with the provider {provider} and no variable that brings it, it is not there"
            )),
            (Some(_), None) => Self::Unknown(
                "a variable such as OPENCODE_ENABLE_EXA would bring it, and not all variables are known"
                    .into(),
            ),
            (None, None) => Self::Unknown(
                "the model is not known, and one of the provider opencode or opencode-go would bring it"
                    .into(),
            ),
        }
    }
}

fn setting(what: String, origin: &Origin, says: Says) -> Setting {
    Setting { what, origin: origin.clone(), layer: "environment", says }
}
