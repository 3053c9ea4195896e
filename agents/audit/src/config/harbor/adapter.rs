//! Harbor's adapters: what they have in common.

use std::collections::BTreeMap;

use closedbook_document::{Node, Value};
use serde_json::json;

use super::write::{Table, Tree};
use super::{JobAgent, Written};
use crate::config::{Document, Origin, Remark};

mod clis;

/// Where agents write their logs.
const LOGS: &str = "/logs/agent";

/// The row of each name and class that is followed.
const ADAPTERS: &[(&str, &str, &str)] = &[
    ("claude-code", "ClaudeCode", "claude-code"),
    ("codex", "Codex", "codex"),
    ("grok-build", "GrokBuild", "grok-build"),
    ("opencode", "OpenCode", "opencode"),
    ("gemini-cli", "GeminiCli", "gemini-cli"),
    ("copilot-cli", "CopilotCli", "copilot-cli"),
    ("qwen-coder", "QwenCode", "qwen-code"),
    ("aider", "Aider", "aider"),
    ("goose", "Goose", "goose"),
    ("openhands", "OpenHands", "openhands"),
    ("mini-swe-agent", "MiniSweAgent", "mini-swe-agent"),
    ("kimi-cli", "KimiCli", "kimi-cli"),
];

/// Reads one agent of a job.
pub(super) fn agent(document: &Document, field: String, node: &Node) -> JobAgent {
    let text = |key| node.get(key).and_then(Node::text);
    // A name with a colon is an import path.
    let (name, import) = match (text("name"), text("import_path")) {
        (Some(path), None) if path.contains(':') => (None, Some(path)),
        both => both,
    };
    // A name that Harbor knows counts more than an import path; what it makes of another one beside a path is not followed.
    let row = match (name, import) {
        (Some(name), _) => ADAPTERS.iter().find(|(known, _, _)| *known == name),
        (None, Some(path)) => by_class(path),
        (None, None) => None,
    };
    let called = name.or(import).unwrap_or_default().to_owned();
    let mut adapter = Adapter {
        document,
        field,
        node,
        argv: Vec::new(),
        env: BTreeMap::new(),
        written: Vec::new(),
        remarks: Vec::new(),
        known: vec!["version", "prompt_template_path", "disable_web_search"],
    };
    let is_followed = adapter.follow(row.map(|(_, _, row)| *row));
    adapter.finish(row.map(|(_, _, row)| (*row).to_owned()), called, is_followed)
}

/// The row of a class. One of a module that is not Harbor's may do anything, but for the module that changes the transport only.
fn by_class(path: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let class = path.strip_prefix("tdb_harbor_agents:").or_else(|| {
        let rest = path.strip_prefix("harbor.agents.installed.")?;
        rest.split_once(':').map(|(_, class)| class)
    })?;
    ADAPTERS.iter().find(|(_, known, _)| *known == class)
}

struct Adapter<'a> {
    document: &'a Document,
    field: String,
    node: &'a Node,
    argv: Vec<(String, Origin)>,
    env: BTreeMap<String, (String, Origin)>,
    written: Vec<Written>,
    remarks: Vec<Remark>,
    /// The kwargs that the adapter knows.
    known: Vec<&'static str>,
}

impl<'a> Adapter<'a> {
    fn follow(&mut self, row: Option<&str>) -> bool {
        match row {
            Some("claude-code") => self.claude_code(),
            Some("codex") => self.codex(),
            Some("grok-build") => self.grok_build(),
            Some("opencode") => self.opencode(),
            Some("gemini-cli") => self.gemini_cli(),
            Some("copilot-cli") => self.copilot_cli(),
            Some("qwen-code") => self.qwen_code(),
            _ => return false,
        }
        true
    }

    /// A file from `kwargs.config`: a table as it stands, or the path of a file of the harness.
    fn own_file(&mut self, path: &str, config: &Node, over: Table) {
        self.known.push("config");
        let written = match config.text() {
            Some(host) => {
                Written::Unknown(path.to_owned(), format!("Harbor writes it from its own file {host}"))
            }
            None => {
                let mut value = Tree::of(config);
                if let Tree::Table(table) = &mut value {
                    table.merge(&Tree::Table(over));
                }
                Written::File(path.to_owned(), value.json().into_bytes())
            }
        };
        self.written.push(written);
        let text = format!("Harbor writes {path} from {}.kwargs.config", self.field);
        self.remark(config.at, text);
    }

    /// The servers of the job; those of a task are not in it.
    fn servers(&self, remote: impl Fn(&str, &str) -> serde_json::Value) -> Option<Table> {
        let mut servers = Table::default();
        for server in self.node.get("mcp_servers").map(Node::items).unwrap_or_default() {
            let text = |key: &str| server.get(key).and_then(Node::text);
            let Some(name) = text("name") else { continue };
            let entry = match (text("transport"), text("url")) {
                (Some("stdio"), _) | (None, None) => json!({
                    "command": text("command"),
                    "args": texts(server.get("args")),
                }),
                (Some("streamable-http"), url) => remote("http", url.unwrap_or_default()),
                (kind, url) => remote(kind.unwrap_or("sse"), url.unwrap_or_default()),
            };
            servers.insert(name, entry);
        }
        (!servers.is_empty()).then_some(servers)
    }

    fn finish(mut self, row: Option<String>, called: String, is_followed: bool) -> JobAgent {
        for (name, value) in self.node.get("env").into_iter().flat_map(Node::fields) {
            let origin = self.harness(value.at, &format!("env.{}", name.text));
            let value = value.text().map_or_else(|| Tree::of(value).json(), str::to_owned);
            // What Harbor sets for a run comes after what the job sets for the container.
            self.env.entry(name.text.clone()).or_insert((value, origin));
        }
        for (kwarg, value) in self.node.get("kwargs").into_iter().flat_map(Node::fields) {
            if is_followed && !self.known.contains(&kwarg.text.as_str()) {
                let text =
                    format!("kwargs.{}: Harbor's adapter does not know it and passes over it", kwarg.text);
                self.remark(value.at, text);
            }
        }
        if !is_followed {
            let text = format!("what Harbor passes to {called:?} is not followed here: give the arguments");
            self.remark(self.node.at, text);
        }
        if self.node.get("skills").is_some_and(|skills| !skills.items().is_empty()) {
            self.remark(self.node.at, "skills of the job are copied in, and are not followed here");
        }
        let kwargs = self.node.get("kwargs");
        let version = kwargs.and_then(|kwargs| kwargs.get("version")).and_then(Node::text).map(str::to_owned);
        JobAgent {
            model: self.node.get("model_name").and_then(Node::text).map(str::to_owned),
            field: self.field,
            agent: row,
            called,
            version,
            argv: is_followed.then_some(self.argv),
            env: self.env,
            written: self.written,
            remarks: self.remarks,
        }
    }

    fn kwarg(&self, name: &str) -> Option<&'a Node> {
        self.node.get("kwargs")?.get(name).filter(|node| node.value != Value::Null)
    }

    fn text(&self, name: &str) -> Option<String> {
        let node = self.kwarg(name)?;
        Some(node.text().map_or_else(|| Tree::of(node).json(), str::to_owned))
    }

    /// A switch, which command lines pass as text.
    fn is_on(&self, name: &str) -> bool {
        let text = self.text(name).unwrap_or_default().to_lowercase();
        matches!(text.as_str(), "true" | "1" | "yes" | "on" | "y" | "t")
    }

    fn option(&mut self, kwarg: &'static str, flag: &str) {
        self.known.push(kwarg);
        if let Some(value) = self.text(kwarg) {
            self.said(flag, kwarg);
            self.said(&value, kwarg);
        }
    }

    /// The model without its provider.
    fn model(&self) -> Option<String> {
        let model = self.node.get("model_name")?.text()?;
        Some(model.split_once('/').map_or(model, |(_, model)| model).to_owned())
    }

    fn base_url(&mut self, name: &str) {
        if let Some(node) = self.node.get("base_url")
            && let Some(url) = node.text()
        {
            let origin = self.harness(node.at, "base_url");
            self.env.insert(name.to_owned(), (url.to_owned(), origin));
        }
    }

    fn env_text(&self, name: &str) -> Option<String> {
        self.node.get("env")?.get(name)?.text().map(str::to_owned)
    }

    /// Words that Harbor passes by itself.
    fn words(&mut self, words: &[&str]) {
        let origin = self.harness(self.node.at, "");
        self.argv.extend(words.iter().map(|word| ((*word).to_owned(), origin.clone())));
    }

    /// A word that a kwarg brings.
    fn said(&mut self, word: &str, kwarg: &str) {
        let at = self.kwarg(kwarg).map_or(self.node.at, |node| node.at);
        let origin = self.harness(at, &format!("kwargs.{kwarg}"));
        self.argv.push((word.to_owned(), origin));
    }

    fn set(&mut self, name: &str, value: &str) {
        let origin = self.harness(self.node.at, "");
        self.env.insert(name.to_owned(), (value.to_owned(), origin));
    }

    fn remark(&mut self, at: usize, text: impl Into<String>) {
        let origin = self.harness(at, "");
        self.remarks.push(Remark { origin, text: text.into() });
    }

    fn harness(&self, at: usize, field: &str) -> Origin {
        let place = match self.document.origin(at) {
            Origin::File { place, .. } => place,
            _ => None,
        };
        let field = if field.is_empty() { self.field.clone() } else { format!("{}.{field}", self.field) };
        Origin::Harness { path: self.document.path.clone(), place, field }
    }
}

fn texts(list: Option<&Node>) -> Vec<&str> {
    list.map(Node::items).unwrap_or_default().iter().filter_map(Node::text).collect()
}
