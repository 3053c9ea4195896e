//! MCP servers. In a fresh directory that nobody trusted, `-p` contacts those of the project too (measured).

use std::collections::BTreeMap;

use closedbook_document::{Format, Node, Value};

use super::settings::{Counts, Layer};
use super::start::Start;
use crate::Malformed;
use crate::config::scene::join;
use crate::config::{Bringer, Document, Kind, Loaded, Origin, Scene, State};

/// Where a server is said, as far as what switches it off goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Managed,
    Flag,
    Project,
    User,
    Local,
    Plugin,
}

/// Why servers are left out.
struct Rules {
    /// For each scope that is left out, why.
    scopes: Vec<(Scope, String)>,
    /// Names that are switched off.
    names: BTreeMap<String, String>,
    /// Names of project servers that are switched off.
    project_names: BTreeMap<String, String>,
    /// Lists of allowed names, and where.
    allowed: Vec<(Vec<String>, String)>,
    /// Rules by address or command, which are not followed.
    unclear: Option<String>,
}

/// Notes every server.
pub(super) fn note(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    let managed = match scene.javascript_document("/etc/claude-code/managed-mcp.json", Format::Json) {
        Loaded::Document(document) => Some(document),
        _ => None,
    };
    let state = match scene.javascript_document(&start.state_file, Format::Json) {
        Loaded::Document(document) => Some(document),
        _ => None,
    };
    let project = |document: &Document| -> Option<Node> {
        document.root.at_path(&["projects", scene.launch().workdir.trim_end_matches('/')]).cloned()
    };
    let project = state.as_ref().and_then(project);
    let rules = Rules::of(start, layers, managed.as_ref(), state.as_ref(), project.as_ref());
    if let Some(document) = &managed {
        servers(scene, &rules, Scope::Managed, document, &document.root, "");
    }
    flag(scene, start, &rules);
    // A file that this was said of above tells nothing of servers in a project that has no entry.
    if let (Some(document), Some(project)) = (&state, &project) {
        servers(scene, &rules, Scope::Local, document, project, "");
    }
    if let Some(document) = &state {
        servers(scene, &rules, Scope::User, document, &document.root, "");
    }
    for folder in scene.workdir_and_above() {
        file(scene, &rules, Scope::Project, &join(&folder, ".mcp.json"), "");
    }
}

/// Notes the servers of a plugin in this folder.
pub(super) fn plugin(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer], folder: &str, name: &str) {
    let rules = Rules::of(start, layers, None, None, None);
    let prefix = format!("plugin:{name}:");
    file(scene, &rules, Scope::Plugin, &join(folder, ".mcp.json"), &prefix);
    file(scene, &rules, Scope::Plugin, &join(folder, ".claude-plugin/plugin.json"), &prefix);
}

fn file(scene: &mut Scene<'_>, rules: &Rules, scope: Scope, path: &str, prefix: &str) {
    match scene.javascript_document(path, Format::Json) {
        Loaded::Document(document) => servers(scene, rules, scope, &document, &document.root, prefix),
        Loaded::Unreadable(why) => scene.brings(Bringer {
            kind: Kind::McpRemote,
            name: format!("the servers of {path}"),
            origin: Origin::File { path: path.to_owned(), place: None },
            state: State::Unknown,
            why: format!("the file can't be read: {why}"),
        }),
        // The CLI takes no server from a file that is no JSON (measured); the report names the file.
        Loaded::Absent | Loaded::Malformed(_) => {}
    }
}

/// `--mcp-config`: JSON, or paths of files.
fn flag(scene: &mut Scene<'_>, start: &Start<'_>, rules: &Rules) {
    for word in start.arguments.values("--mcp-config") {
        if word.text.trim_start().starts_with('{') {
            let text = word.text.as_bytes().to_vec();
            if let Loaded::Document(document) = scene.parse("--mcp-config", text, Format::Json) {
                servers(scene, rules, Scope::Flag, &document, &document.root, "");
            }
            continue;
        }
        let path = scene.resolved(word.text);
        match scene.javascript_document(&path, Format::Json) {
            Loaded::Document(document) => servers(scene, rules, Scope::Flag, &document, &document.root, ""),
            Loaded::Absent => {
                let reason = format!("--mcp-config ({}) names it and it is not there", word.origin);
                scene.malformed(Malformed::whole(path, reason));
            }
            Loaded::Malformed(_) | Loaded::Unreadable(_) => {}
        }
    }
}

fn servers(
    scene: &mut Scene<'_>,
    rules: &Rules,
    scope: Scope,
    document: &Document,
    holder: &Node,
    prefix: &str,
) {
    let Some(servers) = holder.get("mcpServers") else { return };
    for (key, server) in servers.fields() {
        let (kind, what) = match shape(server) {
            Shape::Remote(url) => (Kind::McpRemote, format!("the CLI contacts {url} by itself")),
            Shape::Local(command) => (
                Kind::McpLocal,
                format!(
                    "`{command}` is started by the CLI; its tools are not known, and reach what the container reaches"
                ),
            ),
            Shape::Neither(why) => {
                scene.remark(
                    document.origin(key.at),
                    format!("the MCP server {:?} is passed over: {why}", key.text),
                );
                continue;
            }
            Shape::Unclear(why) => (Kind::McpRemote, why),
        };
        let (state, why) = rules.judge(scope, &key.text, what);
        let name = format!("{prefix}{}", key.text);
        scene.brings(Bringer { kind, name, origin: document.origin(key.at), state, why });
    }
}

enum Shape {
    Remote(String),
    Local(String),
    Neither(String),
    Unclear(String),
}

fn shape(server: &Node) -> Shape {
    let text = |key: &str| server.get(key).and_then(Node::text);
    match (text("type"), text("url"), text("command")) {
        (None | Some("stdio"), _, Some(command)) => Shape::Local(command.to_owned()),
        (Some("http" | "sse" | "ws" | "streamable-http"), Some(url), _) => Shape::Remote(url.to_owned()),
        (None | Some("stdio"), Some(url), None) => {
            Shape::Unclear(format!("{url} has no `type`; 2.1.295 was seen to pass over such a server"))
        }
        (_, None, None) => Shape::Neither("it has neither `command` nor `url`".into()),
        (Some(kind), ..) => Shape::Unclear(format!("it has the type {kind:?}, which is not known here")),
    }
}

impl Rules {
    fn of(
        start: &Start<'_>,
        layers: &[Layer],
        managed: Option<&Document>,
        state: Option<&Document>,
        project: Option<&Node>,
    ) -> Self {
        let mut rules = Self {
            scopes: Vec::new(),
            names: BTreeMap::new(),
            project_names: BTreeMap::new(),
            allowed: Vec::new(),
            unclear: None,
        };
        rules.scopes(start, managed);
        for layer in layers.iter().filter(|layer| layer.counts == Counts::Yes) {
            rules.layer(layer);
        }
        if let (Some(document), Some(project)) = (state, project) {
            for (key, project_only) in [("disabledMcpServers", false), ("disabledMcpjsonServers", true)] {
                let Some(list) = project.get(key) else { continue };
                let why = format!("{key} ({})", document.origin(list.at));
                let names = if project_only { &mut rules.project_names } else { &mut rules.names };
                names.extend(texts(list).map(|name| (name, why.clone())));
            }
        }
        rules
    }

    fn scopes(&mut self, start: &Start<'_>, managed: Option<&Document>) {
        use Scope::{Flag, Local, Plugin, Project, User};
        let mut leave_out = |scopes: &[Scope], why: String| {
            self.scopes.extend(scopes.iter().map(|scope| (*scope, why.clone())));
        };
        if let Some(given) = start.arguments.set("--strict-mcp-config") {
            let why = format!("--strict-mcp-config ({}) leaves it out", given.origin);
            leave_out(&[Project, User, Local, Plugin], why);
        }
        if let Some((what, origin)) = &start.bare {
            leave_out(&[Project, User, Local], format!("{what} ({origin}) leaves it out"));
        }
        if let Some(given) = start.arguments.set("--safe-mode") {
            leave_out(
                &[Project, User, Local, Plugin],
                format!("--safe-mode ({}) leaves it out", given.origin),
            );
        }
        if let Some(document) = managed
            && matches!(document.root.get("mcpServers"), Some(Node { value: Value::Table(_), .. }))
        {
            let why = format!("{} allows its own servers only", document.path);
            leave_out(&[Project, User, Local, Plugin, Flag], why);
        }
        for (scope, source) in [(Project, "project"), (User, "user"), (Local, "local")] {
            if let Some(why) = start.not_a_source(source) {
                leave_out(&[scope], why);
            }
        }
    }

    fn layer(&mut self, layer: &Layer) {
        if let Some((list, origin)) = layer.at(&["disabledMcpjsonServers"]) {
            let why = format!("disabledMcpjsonServers ({origin})");
            self.project_names.extend(texts(list).map(|name| (name, why.clone())));
        }
        if let Some((list, origin)) = layer.at(&["deniedMcpServers"]) {
            for item in list.items() {
                match item.get("serverName").and_then(Node::text) {
                    Some(name) => {
                        self.names.insert(name.to_owned(), format!("deniedMcpServers ({origin})"));
                    }
                    None => self.unclear = Some(format!("deniedMcpServers ({origin})")),
                }
            }
        }
        if let Some((list, origin)) = layer.at(&["allowedMcpServers"])
            && matches!(list.value, Value::List(_))
        {
            let names = list.items().iter().filter_map(|item| item.get("serverName")?.text());
            self.allowed.push((names.map(str::to_owned).collect(), origin.to_string()));
            if list.items().iter().any(|item| item.get("serverName").is_none()) {
                self.unclear = Some(format!("allowedMcpServers ({origin})"));
            }
        }
    }

    fn judge(&self, scope: Scope, name: &str, what: String) -> (State, String) {
        if let Some((_, why)) = self.scopes.iter().find(|(left_out, _)| *left_out == scope) {
            return (State::Off, why.clone());
        }
        let named =
            self.names.get(name).or_else(|| self.project_names.get(name).filter(|_| scope == Scope::Project));
        if let Some(why) = named {
            return (State::Off, format!("{why} switches it off"));
        }
        if let Some(rule) = &self.unclear {
            return (State::Unknown, format!("{what}; {rule} has rules that are not followed here"));
        }
        let refused = self.allowed.iter().find(|(names, _)| !names.iter().any(|allowed| allowed == name));
        match refused.filter(|_| scope != Scope::Managed) {
            Some((_, origin)) => (State::Off, format!("allowedMcpServers ({origin}) does not name it")),
            None => (State::On, what),
        }
    }
}

fn texts(list: &Node) -> impl Iterator<Item = String> {
    list.items().iter().filter_map(|item| item.text().map(str::to_owned))
}
