//! Features of Codex that bring tools from the provider or the network.
//!
//! Measured with 0.162.0: a feature's order of layers is that of all settings, `connectors` is an older name of `apps`,
//! and a pin in requirements.toml (`[features]` or `[feature_requirements]`) holds against `--enable`.

use super::layers::Setup;
use crate::config::layers::{Found, brief, find};
use crate::config::{Bringer, Kind, Origin, Scene, State};

struct Feature {
    names: &'static [&'static str],
    kind: Kind,
    brings: &'static str,
    /// Whether no tool of it is offered with an API key, as measured with `codex exec`.
    needs_login: bool,
}

const FEATURES: &[Feature] = &[
    Feature {
        names: &["apps", "connectors"],
        kind: Kind::Connector,
        brings: "the connectors of the ChatGPT account, which run at the provider",
        needs_login: true,
    },
    Feature {
        names: &["plugins"],
        kind: Kind::Plugin,
        brings: "plugins, with servers and connectors of their own; codex asks github.com and chatgpt.com for the list",
        needs_login: true,
    },
    Feature {
        names: &["browser_use"],
        kind: Kind::Connector,
        brings: "a browser, where the desktop program provides one",
        needs_login: true,
    },
    Feature {
        names: &["computer_use"],
        kind: Kind::Connector,
        brings: "the screen, where the desktop program provides it",
        needs_login: true,
    },
    Feature {
        names: &["image_generation"],
        kind: Kind::Connector,
        brings: "a tool that makes images at the provider",
        needs_login: true,
    },
    Feature {
        names: &["tool_suggest"],
        kind: Kind::Plugin,
        brings: "suggestions of connectors and plugins that are not installed",
        needs_login: true,
    },
    Feature {
        names: &["skill_mcp_dependency_install"],
        kind: Kind::Plugin,
        brings: "servers that a skill asks for, installed when it is used",
        needs_login: true,
    },
];

pub(super) fn audit(scene: &mut Scene<'_>, setup: &Setup) {
    let login = Login::of(scene, setup);
    for feature in FEATURES {
        let bringer = feature.bringer(setup, login);
        scene.brings(bringer);
    }
}

/// How Codex signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Login {
    Key,
    ChatGpt,
    Unknown,
}

impl Login {
    /// A file of sign-in data is not read for what it holds, only for which kind it is.
    fn of(scene: &mut Scene<'_>, setup: &Setup) -> Self {
        let path = format!("{}/auth.json", setup.home);
        let file = scene.stray(&path, closedbook_document::Format::Json);
        let file = file.as_ref().map(|file| {
            let holds =
                |key: &str| file.root.get(key).is_some_and(|node| node.text() != Some("") && !is_null(node));
            (holds("tokens"), holds("OPENAI_API_KEY"))
        });
        match file {
            _ if scene.env("CODEX_API_KEY").is_some_and(|key| !key.is_empty()) => Self::Key,
            Some((true, _)) => Self::ChatGpt,
            Some((false, true)) => Self::Key,
            _ => Self::Unknown,
        }
    }
}

fn is_null(node: &closedbook_document::Node) -> bool {
    node.value == closedbook_document::Value::Null
}

impl Feature {
    fn bringer(&self, setup: &Setup, login: Login) -> Bringer {
        let name = self.names.first().copied().unwrap_or_default();
        let (origin, state, why) = match self.said(setup) {
            Some(found) if found.value.boolean() == Some(false) => {
                let why = format!("{} sets features.{name} to false", found.layer);
                (found.origin, State::Off, why)
            }
            found => {
                let origin = found.as_ref().map_or(Origin::Default, |found| found.origin.clone());
                let on = match found {
                    Some(found) => format!("features.{name} is {}", brief(found.value)),
                    None => format!("features.{name} is on by default"),
                };
                let brings = self.brings;
                match login {
                    Login::Key if self.needs_login => (
                        origin,
                        State::Off,
                        format!(
                            "{on}, but with an API key no tool of it is offered, as measured; --disable {name} makes sure"
                        ),
                    ),
                    Login::ChatGpt => {
                        (origin, State::On, format!("{on}: {brings}; --disable {name} switches it off"))
                    }
                    _ => (
                        origin,
                        State::Unknown,
                        format!("{on}: with a ChatGPT login {brings}; --disable {name} switches it off"),
                    ),
                }
            }
        };
        Bringer { kind: self.kind, name: name.to_owned(), origin, state, why }
    }

    /// The setting that counts.
    fn said<'a>(&self, setup: &'a Setup) -> Option<Found<'a>> {
        let pinned = setup.requirements.iter().flat_map(|layer| {
            let tables = ["features", "feature_requirements"];
            tables
                .into_iter()
                .flat_map(move |table| self.names.iter().filter_map(move |name| layer.get(&[table, *name])))
        });
        let set =
            self.names.iter().filter_map(|name| find(&setup.layers, &["features", *name]).into_iter().next());
        pinned.chain(set).next()
    }
}
