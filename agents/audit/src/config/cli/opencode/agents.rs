//! The permissions of every agent: everybody's, then the agent's own.

use closedbook_document::{Node, Value};

use super::permission::{Permissions, Places as _};
use super::places::{Places, Source, Step};
use crate::config::front_matter::front_matter;
use crate::config::stops::Stops;
use crate::config::{Content, Scene};

/// Folders of Markdown files, and whether those are primary agents.
const KINDS: [(&str, bool); 4] = [("agent", false), ("agents", false), ("mode", true), ("modes", true)];

/// Agents that the program comes with: those that can be started, in their order, and those that can be called alone.
const PRIMARY: [&str; 2] = ["build", "plan"];
const SUBAGENTS: [&str; 2] = ["general", "explore"];

/// Everything merged.
pub(super) struct Merged {
    pub(super) everybody: Permissions,
    /// Those with settings of their own.
    pub(super) agents: Vec<Agent>,
    /// `default_agent`, if it is set.
    pub(super) chosen: Option<String>,
    /// `model`, with what the CLI would use.
    pub(super) model: Option<String>,
}

/// What is said of one agent.
#[derive(Debug, Default)]
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) own: Permissions,
    pub(super) mode: Option<String>,
    pub(super) model: Option<String>,
    pub(super) is_disabled: bool,
    /// Whether anything gives it permissions of its own.
    pub(super) speaks: bool,
}

impl Merged {
    pub(super) fn of(scene: &mut Scene<'_>, places: &Places, stops: &mut Stops) -> Self {
        let mut merged =
            Self { everybody: Permissions::default(), agents: Vec::new(), chosen: None, model: None };
        let mut tools = Permissions::default();
        for step in &places.steps {
            match step {
                Step::Settings(source) => merged.settings(scene, source, &mut tools, stops),
                Step::Agents(folder) => {
                    for (kind, is_primary) in KINDS {
                        merged.folder(scene, &format!("{folder}/{kind}"), "", is_primary, stops);
                    }
                }
            }
        }
        // The old `mode` table goes over `agent`, whatever file it stands in.
        for source in places.sources() {
            for (name, node) in source.root.get("mode").iter().flat_map(|node| node.fields()) {
                let agent = merged.agent(&name.text);
                agent.take(node, source);
                agent.mode = Some("primary".into());
            }
        }
        if let Some(variable) = &places.variable
            && matches!(variable.root.value, Value::Table(_))
        {
            merged.everybody.merge(&variable.root, variable.layer, variable);
        }
        // The old `tools` table stands before everything else.
        merged.everybody = tools.overlaid(std::mem::take(&mut merged.everybody));
        merged
    }

    fn settings(
        &mut self,
        scene: &mut Scene<'_>,
        source: &Source,
        tools: &mut Permissions,
        stops: &mut Stops,
    ) {
        check(scene, source, &source.root, "", stops);
        if let Some(permission) = source.root.get("permission") {
            self.everybody.merge(permission, source.layer, source);
        }
        if let Some(node) = source.root.get("tools") {
            let of_tools = Permissions::of_tools(node, source.layer, source);
            *tools = std::mem::take(tools).overlaid(of_tools);
        }
        let text = |key: &str| source.root.get(key).and_then(Node::text).map(str::to_owned);
        self.chosen = text("default_agent").or(self.chosen.take());
        self.model = text("model").or(self.model.take());
        for (name, node) in source.root.get("agent").iter().flat_map(|node| node.fields()) {
            check(scene, source, node, &format!("agent.{}.", name.text), stops);
            self.agent(&name.text).take(node, source);
        }
    }

    /// Markdown files; agents lie at any depth.
    fn folder(
        &mut self,
        scene: &mut Scene<'_>,
        folder: &str,
        prefix: &str,
        is_primary: bool,
        stops: &mut Stops,
    ) {
        let depth = prefix.matches('/').count();
        for file in scene.list(folder) {
            let path = format!("{folder}/{file}");
            if let Some(name) = file.strip_suffix(".md") {
                let Content::Bytes(bytes) = scene.bytes(&path) else { continue };
                let Some(head) = front_matter(&bytes) else { continue };
                let document = match head.read() {
                    Ok(root) => head.document(&path, root),
                    // OpenCode leaves such a file out.
                    Err(fault) => {
                        scene.malformed(fault.named(&path));
                        continue;
                    }
                };
                let source = Source::of("agent file", document);
                check(scene, &source, &source.root, "", stops);
                let name = source.root.get("name").and_then(Node::text).unwrap_or(name);
                let agent = self.agent(&format!("{prefix}{name}"));
                agent.take(&source.root, &source);
                if is_primary {
                    agent.mode = Some("primary".into());
                }
            } else if !is_primary && depth < 8 && !scene.list(&path).is_empty() {
                self.folder(scene, &path, &format!("{prefix}{file}/"), is_primary, stops);
            }
        }
    }

    /// The agent that a start takes: the one of `--agent` if there is such a one and it is no subagent, else the default
    /// one, else the first that can be started.
    pub(super) fn started(&self, given: Option<&str>) -> String {
        let own = |name: &str| self.agents.iter().find(|agent| agent.name == name);
        let is_startable = |name: &str| match own(name) {
            Some(agent) if agent.is_disabled => false,
            Some(Agent { mode: Some(mode), .. }) => mode != "subagent",
            Some(_) => !SUBAGENTS.contains(&name),
            None => PRIMARY.contains(&name),
        };
        if let Some(name) = given.or(self.chosen.as_deref()).filter(|name| is_startable(name)) {
            return name.to_owned();
        }
        if let Some(name) = self.chosen.as_deref().filter(|name| is_startable(name)) {
            return name.to_owned();
        }
        let others = self.agents.iter().map(|agent| agent.name.as_str());
        let first = PRIMARY.into_iter().chain(others).find(|name| is_startable(name));
        first.unwrap_or("build").to_owned()
    }

    fn agent(&mut self, name: &str) -> &mut Agent {
        let at = self.agents.iter().position(|agent| agent.name == name).unwrap_or(self.agents.len());
        if at == self.agents.len() {
            self.agents.push(Agent { name: name.to_owned(), ..Agent::default() });
        }
        // The index is of an agent that is there, or was just pushed.
        #[allow(clippy::indexing_slicing)]
        &mut self.agents[at]
    }
}

impl Agent {
    /// Whether another agent may call it.
    pub(super) fn is_callable(&self) -> bool {
        let mode = match (&self.mode, self.name.as_str()) {
            (Some(mode), _) => mode,
            (None, "build" | "plan" | "compaction" | "title" | "summary") => "primary",
            (None, _) => "all",
        };
        mode != "primary" && !self.is_disabled
    }

    fn take(&mut self, node: &Node, source: &Source) {
        let mut own = Permissions::default();
        if let Some(tools) = node.get("tools") {
            own = Permissions::of_tools(tools, source.layer, source);
        }
        if let Some(permission) = node.get("permission") {
            own.merge(permission, source.layer, source);
        }
        self.speaks |= own.lines().next().is_some();
        self.own = std::mem::take(&mut self.own).overlaid(own);
        let text = |key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
        self.mode = text("mode").or(self.mode.take());
        self.model = text("model").or(self.model.take());
        if let Some(disable) = node.get("disable").and_then(Node::boolean) {
            self.is_disabled = disable;
        }
    }
}

const ACTIONS: [&str; 3] = ["ask", "allow", "deny"];

/// Keys that take an action and no patterns.
const FLAT: [&str; 5] = ["todowrite", "question", "webfetch", "websearch", "doom_loop"];

/// What OpenCode ends at with exit 1: values of the wrong type, and the key `permissions`.
fn check(scene: &mut Scene<'_>, source: &Source, node: &Node, path: &str, stops: &mut Stops) {
    let mut faults: Vec<(usize, String)> = Vec::new();
    if let Some(permissions) = node.get("permissions").filter(|_| source.is_file()) {
        faults.push((permissions.at, format!("{path}permissions is no setting; the key is `permission`")));
    }
    if let Some(permission) = node.get("permission") {
        permission_faults(permission, path, &mut faults);
    }
    for (key, value) in node.get("tools").iter().flat_map(|tools| tools.fields()) {
        if value.boolean().is_none() {
            let kind = value.value.kind();
            faults.push((value.at, format!("{path}tools.{} must be true or false, not {kind}", key.text)));
        }
    }
    for (at, reason) in faults {
        stops.because(format!("{}: {reason}", source.origin(at)));
        scene.malformed(source.fault(at, reason));
    }
}

fn permission_faults(permission: &Node, path: &str, faults: &mut Vec<(usize, String)>) {
    let mut action = |node: &Node, what: String| match node.text() {
        Some(text) if ACTIONS.contains(&text) || text.contains("{env:") || text.contains("{file:") => {}
        Some(text) => faults.push((node.at, format!("{what} must be ask, allow or deny, not {text:?}"))),
        None => {
            faults.push((node.at, format!("{what} must be ask, allow or deny, not {}", node.value.kind())))
        }
    };
    if !matches!(permission.value, Value::Table(_)) {
        return action(permission, format!("{path}permission"));
    }
    for (key, rule) in permission.fields() {
        let what = format!("{path}permission.{}", key.text);
        match &rule.value {
            Value::Table(_) if !FLAT.contains(&key.text.as_str()) => {
                rule.fields().for_each(|(pattern, node)| action(node, format!("{what}.{}", pattern.text)));
            }
            _ => action(rule, what),
        }
    }
}
