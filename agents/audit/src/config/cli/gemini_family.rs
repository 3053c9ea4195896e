//! What Gemini CLI and Qwen Code, which began as a copy of it, have in common.

use closedbook_document::{Format, Node, Value};

use crate::config::{Bringer, Content, Document, Kind, Loaded, Origin, Scene, State};

mod comments;

/// A settings file.
pub(super) struct Layer {
    /// Its name.
    pub(super) name: &'static str,
    pub(super) origin: Origin,
    /// What it holds, where that can be read.
    pub(super) document: Option<Document>,
    pub(super) counts: Counts,
}

/// Whether the CLI takes a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Counts {
    Yes,
    /// Something else keeps it out.
    LeftOut(String),
    /// It passes over it, or does not start with it.
    Ignored(String),
    /// That is not known.
    Unclear(String),
}

impl Layer {
    /// The value at the end of a path of keys, with where it stands.
    pub(super) fn at(&self, path: &[&str]) -> Option<(&Node, Origin)> {
        let document = self.document.as_ref()?;
        let node = document.root.at_path(path)?;
        Some((node, document.origin(node.at)))
    }

    pub(super) fn counts(&self) -> bool {
        self.counts == Counts::Yes
    }
}

/// What a byte order mark does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrderMark {
    /// The CLI passes over it.
    Skipped,
    /// The CLI finds no JSON.
    Breaks,
}

/// A settings file: JSON with comments and without commas after the last item. `broken` says what the CLI does with one
/// that is no such thing.
pub(super) fn layer(
    scene: &mut Scene<'_>,
    name: &'static str,
    path: &str,
    broken: &str,
    mark: ByteOrderMark,
) -> Option<Layer> {
    let origin = Origin::File { path: path.to_owned(), place: None };
    let mut loaded = commented(scene, path);
    if mark == ByteOrderMark::Breaks
        && matches!(scene.launch().files.read(path), Content::Bytes(bytes) if bytes.starts_with(b"\xef\xbb\xbf"))
        && matches!(loaded, Loaded::Document(_))
    {
        let reason = "it begins with a byte order mark";
        scene.malformed(crate::Malformed::at(path, b"", 0, reason));
        loaded = Loaded::Malformed(reason.to_owned());
    }
    let (document, counts) = match loaded {
        Loaded::Absent => return None,
        Loaded::Unreadable(why) => (None, Counts::Unclear(format!("it can't be read: {why}"))),
        Loaded::Malformed(reason) => (None, Counts::Ignored(format!("{broken}, {reason}"))),
        Loaded::Document(document) if matches!(document.root.value, Value::Table(_)) => {
            (Some(document), Counts::Yes)
        }
        Loaded::Document(document) => {
            let reason = format!("it holds {} and no table", document.root.value.kind());
            scene.malformed(crate::Malformed::whole(path, reason.clone()));
            (None, Counts::Ignored(format!("{broken}, {reason}")))
        }
    };
    Some(Layer { name, origin, document, counts })
}

/// A document of JSON with comments, as JavaScript reads it.
pub(super) fn commented(scene: &mut Scene<'_>, path: &str) -> Loaded {
    match scene.bytes(path) {
        Content::Absent => Loaded::Absent,
        Content::Unreadable(why) => Loaded::Unreadable(why),
        Content::Bytes(bytes) => scene.parse_javascript(path, comments::blanked(bytes), Format::Json),
    }
}

/// Notes the servers of a `mcpServers` table; `judge` says whether one is in effect.
pub(super) fn servers(
    scene: &mut Scene<'_>,
    document: &Document,
    prefix: &str,
    judge: impl Fn(&str, &Node) -> (State, Option<String>),
) {
    let Some(servers) = document.root.get("mcpServers") else { return };
    for (key, server) in servers.fields() {
        let text = |key: &str| server.get(key).and_then(Node::text);
        let (kind, what) = match (text("httpUrl").or(text("url")).or(text("tcp")), text("command")) {
            (Some(url), _) => (Kind::McpRemote, format!("the CLI contacts {url} by itself")),
            (None, Some(command)) => (
                Kind::McpLocal,
                format!(
                    "`{command}` is started by the CLI; its tools are not known, and reach what the container reaches"
                ),
            ),
            (None, None) => {
                let text = format!("the MCP server {:?} has neither an address nor a command", key.text);
                scene.remark(document.origin(key.at), text);
                continue;
            }
        };
        let (state, why) = judge(&key.text, server);
        let name = format!("{prefix}{}", key.text);
        let why = why.unwrap_or(what);
        scene.brings(Bringer { kind, name, origin: document.origin(key.at), state, why });
    }
}

/// Notes the hooks of a `hooks` table.
pub(super) fn hooks(scene: &mut Scene<'_>, layer: &Layer, left_out: Option<&str>) {
    let (Some((hooks, _)), Some(document)) = (layer.at(&["hooks"]), &layer.document) else { return };
    for (event, matchers) in hooks.fields() {
        for hook in matchers
            .items()
            .iter()
            .flat_map(|matcher| matcher.get("hooks").map(Node::items).unwrap_or_default())
        {
            let command = hook.get("command").and_then(Node::text).unwrap_or_default();
            let (state, why) = match left_out {
                Some(why) => (State::Off, why.to_owned()),
                None => {
                    (State::Unknown, format!("`{command}` runs at {}: what it does is not known", event.text))
                }
            };
            let origin = document.origin(hook.at);
            scene.brings(Bringer { kind: Kind::Hook, name: event.text.clone(), origin, state, why });
        }
    }
}

/// The texts of a list.
pub(super) fn texts(node: &Node) -> impl Iterator<Item = (&str, usize)> {
    node.items().iter().filter_map(|item| item.text().map(|text| (text, item.at)))
}

/// Whether letters and digits are the same or hold one of a tool's names: what someone meant who wrote it.
pub(super) fn resembles(text: &str, names: &[&str]) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let text = plain(text);
    names.iter().any(|name| text.contains(&plain(name)))
}
