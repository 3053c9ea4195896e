//! What else brings the web to OpenCode: servers, plugins, tools of one's own, pages as instructions, gateways.

use closedbook_document::{Format, Node, Value};

use super::permission::Places as _;
use super::places::{Places, is_set};
use crate::config::argv::Arguments;
use crate::config::routing;
use crate::config::{Bringer, Kind, Origin, Scene, State};

pub(super) fn audit(scene: &mut Scene<'_>, arguments: &Arguments<'_>, places: &Places) {
    servers(scene, places);
    plugins(scene, arguments, places);
    pages(scene, places);
    providers(scene, places);
    model(scene, arguments, places);
    remote(scene);
}

/// `mcp`, over all files: the last one that speaks of a field counts.
fn servers(scene: &mut Scene<'_>, places: &Places) {
    let mut servers: Vec<Server> = Vec::new();
    for source in places.sources() {
        let Some(mcp) = source.root.get("mcp") else { continue };
        let nested = mcp.get("servers").filter(|node| node.get("type").is_none());
        let direct = mcp.fields().filter(|(key, _)| nested.is_none() || key.text != "servers");
        for (key, node) in direct.chain(nested.iter().flat_map(|node| node.fields())) {
            let at = servers.iter().position(|server| server.name == key.text);
            let mut server = at.map_or_else(|| Server::new(&key.text), |at| servers.swap_remove(at));
            server.take(node, source.origin(key.at));
            servers.push(server);
        }
    }
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    servers.into_iter().filter_map(Server::bringer).for_each(|bringer| scene.brings(bringer));
}

struct Server {
    name: String,
    origin: Origin,
    reach: Option<(Kind, String)>,
    off: Option<Origin>,
}

impl Server {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), origin: Origin::Default, reach: None, off: None }
    }

    fn take(&mut self, node: &Node, origin: Origin) {
        if let Some(url) = node.get("url").and_then(Node::text) {
            self.reach = Some((Kind::McpRemote, url.to_owned()));
        } else if let Some(command) = node.get("command") {
            let words: Vec<&str> = command.items().iter().filter_map(Node::text).collect();
            self.reach = Some((Kind::McpLocal, words.join(" ")));
        }
        let enabled = node.get("enabled").and_then(Node::boolean);
        let disabled = node.get("disabled").and_then(Node::boolean).map(|disabled| !disabled);
        match enabled.or(disabled) {
            Some(false) => self.off = Some(origin.clone()),
            Some(true) => self.off = None,
            None => {}
        }
        self.origin = origin;
    }

    fn bringer(self) -> Option<Bringer> {
        let (kind, reach) = self.reach?;
        let (origin, state, why) = match self.off {
            Some(off) => (off, State::Off, format!("{reach}: switched off")),
            None => {
                (self.origin, State::On, format!("{reach}: opencode starts it unasked and offers its tools"))
            }
        };
        Some(Bringer { kind, name: self.name, origin, state, why })
    }
}

fn plugins(scene: &mut Scene<'_>, arguments: &Arguments<'_>, places: &Places) {
    let pure = arguments.set("--pure").is_some() || is_set(scene, "OPENCODE_PURE");
    let (state, why) = if pure {
        (State::Off, "--pure leaves plugins out")
    } else {
        (
            State::On,
            "a plugin is a program that opencode loads unasked: it can add tools and take permissions back",
        )
    };
    let mut found: Vec<(String, Origin)> = Vec::new();
    for source in places.sources() {
        for item in source.root.get("plugin").iter().flat_map(|node| node.items()) {
            let name = item.text().or_else(|| item.items().first().and_then(Node::text));
            found.extend(name.map(|name| (name.to_owned(), source.origin(item.at))));
        }
    }
    for folder in &places.folders {
        for kind in ["plugin", "plugins"] {
            for file in scripts(scene, &format!("{folder}/{kind}")) {
                found.push((file.clone(), Origin::File { path: file, place: None }));
            }
        }
    }
    for (name, origin) in found {
        scene.brings(Bringer { kind: Kind::Plugin, name, origin, state, why: why.into() });
    }
    for folder in &places.folders {
        for kind in ["tool", "tools"] {
            for path in scripts(scene, &format!("{folder}/{kind}")) {
                let (name, why) =
                    (path.clone(), "a tool of one's own: what it reaches is not known".to_owned());
                let origin = Origin::File { path, place: None };
                scene.brings(Bringer { kind: Kind::Plugin, name, origin, state: State::Unknown, why });
            }
        }
    }
}

fn scripts(scene: &Scene<'_>, folder: &str) -> Vec<String> {
    let is_script = |name: &String| name.ends_with(".js") || name.ends_with(".ts");
    let names = scene.list(folder).into_iter().filter(is_script);
    names.map(|name| format!("{folder}/{name}")).collect()
}

/// Instructions and skills by address, which are fetched at start.
fn pages(scene: &mut Scene<'_>, places: &Places) {
    for source in places.sources() {
        let lists = [source.root.get("instructions"), source.root.at_path(&["skills", "urls"])];
        for item in lists.into_iter().flatten().flat_map(Node::items) {
            let Some(url) = item.text().filter(|url| url.starts_with("http")) else { continue };
            let why = "opencode fetches this page at start and shows it to the model".to_owned();
            let (kind, origin) = (Kind::Skill, source.origin(item.at));
            scene.brings(Bringer { kind, name: url.to_owned(), origin, state: State::On, why });
        }
    }
}

/// Hosts of the providers that the program has by itself.
const HOSTS: [&str; 4] = ["api.anthropic.com", "api.openai.com", "api.x.ai", "opencode.ai"];

fn providers(scene: &mut Scene<'_>, places: &Places) {
    let mut bringers = Vec::new();
    for source in places.sources() {
        for (name, node) in source.root.get("provider").iter().flat_map(|node| node.fields()) {
            let url = node.at_path(&["options", "baseURL"]).or_else(|| node.get("api"));
            if let Some((url, at)) = url.and_then(|url| Some((url.text()?, url.at))) {
                bringers.extend(routing::gateway(&name.text, url, source.origin(at), &HOSTS));
            }
            for key in routing::searches(node) {
                let why = format!("{} is passed on to the provider, which may search by itself", key.text);
                let origin = source.origin(key.at);
                bringers.push(routing::bringer(&name.text, origin, State::Unknown, why));
            }
        }
    }
    bringers.into_iter().for_each(|bringer| scene.brings(bringer));
}

/// A router's model may search without a tool.
fn model(scene: &mut Scene<'_>, arguments: &Arguments<'_>, places: &Places) {
    let given =
        arguments.last("--model").and_then(|given| Some((given.value()?.to_owned(), given.origin.clone())));
    let set = places.sources().filter_map(|source| {
        let model = source.root.get("model")?;
        Some((model.text()?.to_owned(), source.origin(model.at)))
    });
    let Some((model, origin)) = given.or_else(|| set.last()) else { return };
    routing::model(&model, origin).into_iter().for_each(|bringer| scene.brings(bringer));
}

/// A sign-in at an organisation brings that organisation's settings, which are fetched at start.
fn remote(scene: &mut Scene<'_>) {
    let data = match scene.env("XDG_DATA_HOME") {
        Some(folder) if !folder.is_empty() => format!("{}/opencode", folder.trim_end_matches('/')),
        _ => scene.home(".local/share/opencode"),
    };
    let Some(auth) = scene.stray(&format!("{data}/auth.json"), Format::Json) else { return };
    let is_remote = |node: &Node| node.get("type").and_then(Node::text) == Some("wellknown");
    for (key, _) in
        auth.root.fields().filter(|(_, node)| is_remote(node) && matches!(node.value, Value::Table(_)))
    {
        let why = "settings are fetched from this address at start; what they say is not known".to_owned();
        scene.brings(routing::bringer(&key.text, auth.origin(key.at), State::Unknown, why));
    }
}
