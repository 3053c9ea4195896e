//! Harbor's adapters, one function each.

use std::collections::BTreeMap;

use closedbook_document::{Node, Value};
use serde_json::json;

use super::write::{Table, Tree};
use super::{JobAgent, Written};
use crate::config::{Document, Origin, Remark};

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
    let import = node.get("import_path").and_then(Node::text);
    let name = node.get("name").and_then(Node::text);
    let called = import.or(name).unwrap_or_default().to_owned();
    let row = match import {
        // A class of a module that is not Harbor's may do anything, but for the one that changes the transport only.
        Some(path) => path
            .strip_prefix("tdb_harbor_agents:")
            .or_else(|| {
                path.strip_prefix("harbor.agents.installed.")
                    .and_then(|rest| rest.split_once(':'))
                    .map(|(_, class)| class)
            })
            .and_then(|class| ADAPTERS.iter().find(|(_, known, _)| *known == class)),
        None => ADAPTERS.iter().find(|(known, _, _)| Some(*known) == name),
    };
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

    fn claude_code(&mut self) {
        self.words(&["--verbose", "--output-format=stream-json"]);
        if let Some(config) = self.kwarg("config") {
            let path = "/tmp/claude-code-settings/settings.json";
            self.own_file(path, config, Table::default());
            self.said("--settings", "config");
            self.said(path, "config");
        }
        for (kwarg, flag) in [
            ("max_turns", "--max-turns"),
            ("reasoning_effort", "--effort"),
            ("thinking_display", "--thinking-display"),
            ("max_budget_usd", "--max-budget-usd"),
            ("fallback_model", "--fallback-model"),
            ("append_system_prompt", "--append-system-prompt"),
            ("allowed_tools", "--allowedTools"),
        ] {
            self.option(kwarg, flag);
        }
        self.known.extend(["disallowed_tools", "permission_mode", "max_thinking_tokens", "memory_dir"]);
        let mut tools: Vec<String> = self.text("disallowed_tools").into_iter().collect();
        let disables = self.is_on("disable_web_search");
        if disables {
            tools.extend(["WebSearch".to_owned(), "WebFetch".to_owned()]);
        }
        if !tools.is_empty() {
            let from = if disables { "disable_web_search" } else { "disallowed_tools" };
            self.said("--disallowedTools", from);
            self.said(&tools.join(","), from);
        }
        let mode = self.text("permission_mode").unwrap_or_else(|| "bypassPermissions".into());
        self.words(&[&format!("--permission-mode={mode}"), "--print"]);
        self.set("CLAUDE_CONFIG_DIR", &format!("{LOGS}/sessions"));
        self.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        self.set("IS_SANDBOX", "1");
        self.base_url("ANTHROPIC_BASE_URL");
        self.written.push(Written::Copied(format!("{LOGS}/sessions/skills"), "~/.claude/skills".into()));
        if let Some(servers) = self.servers(|kind, url| json!({ "type": kind, "url": url })) {
            let mut table = Table::default();
            table.insert("mcpServers", Tree::Table(servers));
            let text = table.json();
            self.written.push(Written::File(format!("{LOGS}/sessions/.claude.json"), text.into_bytes()));
        }
    }

    fn codex(&mut self) {
        self.known.extend([
            "web_search",
            "reasoning_effort",
            "reasoning_summary",
            "dangerously_bypass_hook_trust",
            "config",
        ]);
        self.words(&["exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]);
        if let Some(model) = self.model() {
            self.words(&["--model", &model]);
        }
        self.words(&["--json", "--enable", "unified_exec"]);
        for kwarg in ["reasoning_effort", "reasoning_summary"] {
            if let Some(value) = self.text(kwarg) {
                self.said("-c", kwarg);
                self.said(&format!("model_{kwarg}={value}"), kwarg);
            }
        }
        let disables = self.is_on("disable_web_search");
        let search = if disables { Some("disabled".to_owned()) } else { self.text("web_search") };
        let mut over = Table::default();
        if let Some(search) = search {
            let from = if disables { "disable_web_search" } else { "web_search" };
            self.said("-c", from);
            self.said(&format!("web_search={search}"), from);
            over.insert("web_search", json!(search));
        }
        if self.is_on("dangerously_bypass_hook_trust") {
            self.said("--dangerously-bypass-hook-trust", "dangerously_bypass_hook_trust");
        }
        self.words(&["--", "(the instruction)"]);
        if let Some(servers) = self.servers(|_, url| json!({ "url": url })) {
            over.insert("mcp_servers", Tree::Table(servers));
        }
        let url = self.node.get("base_url").and_then(Node::text).map(str::to_owned);
        let url = url.or_else(|| self.env_text("OPENAI_BASE_URL"));
        if let Some(url) = url {
            over.insert("openai_base_url", json!(url));
        }
        let home = "/installed-agent/codex-home";
        self.set("CODEX_HOME", home);
        let path = format!("{home}/config.toml");
        match self.kwarg("config") {
            Some(config) if matches!(config.value, Value::Text(_)) => self.own_file(&path, config, over),
            config => {
                let mut table = Table::default();
                if let Some(config) = config {
                    table.merge(&Tree::of(config));
                }
                table.merge(&Tree::Table(over));
                self.written.push(Written::File(path, table.toml().into_bytes()));
            }
        }
    }

    fn grok_build(&mut self) {
        self.known.extend([
            "grok_config",
            "background_wait_sec",
            "kill_leftover_processes",
            "reasoning_effort",
        ]);
        self.words(&["--no-auto-update", "--single", "(the instruction)", "--always-approve"]);
        self.words(&["--output-format", "streaming-json"]);
        if let Some(model) = self.model() {
            self.words(&["--model", &model]);
        }
        self.option("reasoning_effort", "--reasoning-effort");
        self.set("GROK_DISABLE_AUTOUPDATER", "1");
        let mut table = Table::default();
        let disables = self.is_on("disable_web_search");
        table.merge(&Tree::from(json!({
            "cli": { "auto_update": false },
            "features": { "telemetry": false },
            "harness": { "disable_codebase_upload": true },
        })));
        if let Some(servers) = self.servers(|_, url| json!({ "url": url })) {
            table.insert("mcp_servers", Tree::Table(servers));
        }
        if let Some(config) = self.kwarg("grok_config") {
            table.merge(&Tree::of(config));
        }
        if self.kwarg("disable_web_search").is_some() {
            table.insert("disable_web_search", json!(disables));
        }
        self.written.push(Written::File("~/.grok/config.toml".into(), table.toml().into_bytes()));
    }

    fn opencode(&mut self) {
        self.known.extend(["opencode_config", "variant"]);
        if let Some(model) = self.node.get("model_name").and_then(Node::text) {
            self.words(&[&format!("--model={model}")]);
        }
        self.words(&["run", "--format=json"]);
        self.option("variant", "--variant");
        self.words(&["--thinking", "--dangerously-skip-permissions", "--", "(the instruction)"]);
        self.set("OPENCODE_FAKE_VCS", "git");
        self.set("XDG_DATA_HOME", &format!("{LOGS}/opencode/xdg-data"));
        self.set("XDG_STATE_HOME", &format!("{LOGS}/opencode/xdg-state"));
        let mut table = Table::default();
        if let Some(servers) = self.servers(|_, url| json!({ "type": "remote", "url": url, "oauth": false }))
        {
            table.insert("mcp", Tree::Table(servers));
        }
        if let Some(config) = self.kwarg("opencode_config") {
            table.merge(&Tree::of(config));
        }
        if self.is_on("disable_web_search") {
            let mut permission = match table.remove("permission") {
                Some(Tree::Table(rules)) => rules,
                None => Table::default(),
                Some(all) if all.is_null() => Table::default(),
                Some(all) => {
                    let mut rules = Table::default();
                    rules.insert("*", all);
                    rules
                }
            };
            // Later rules win, so these come last.
            for tool in ["websearch", "webfetch"] {
                permission.remove(tool);
                permission.insert(tool, json!("deny"));
            }
            table.insert("permission", Tree::Table(permission));
        }
        if !table.is_empty() {
            let text = table.json();
            self.written.push(Written::File("~/.config/opencode/opencode.json".into(), text.into_bytes()));
        }
    }

    fn gemini_cli(&mut self) {
        self.known.extend(["sandbox", "reasoning_effort"]);
        self.words(&["--yolo"]);
        if self.is_on("sandbox") {
            self.said("--sandbox", "sandbox");
        }
        if let Some(model) = self.model() {
            self.words(&[&format!("--model={model}")]);
        }
        self.words(&["--prompt=(the instruction)"]);
        self.set("GEMINI_CLI_TRUST_WORKSPACE", "true");
        self.base_url("GOOGLE_GEMINI_BASE_URL");
        // The file is written anew in every run, so what an image brought is gone.
        let mut table = Table::default();
        table.insert("security", json!({ "auth": { "selectedType": "gemini-api-key" } }));
        if let Some(servers) = self.servers(|kind, url| {
            let key = if kind == "http" { "httpUrl" } else { "url" };
            json!({ key: url })
        }) {
            table.insert("mcpServers", Tree::Table(servers));
        }
        if self.is_on("disable_web_search") {
            table.insert("tools", json!({ "exclude": ["google_web_search", "web_fetch"] }));
        }
        let text = table.json();
        self.written.push(Written::File("~/.gemini/settings.json".into(), text.into_bytes()));
        let text =
            "Harbor writes ~/.gemini/settings.json anew: settings that the image brings there do not count";
        self.remark(self.node.at, text);
    }

    fn copilot_cli(&mut self) {
        self.known.extend(["reasoning_effort"]);
        self.words(&["--prompt=(the instruction)", "--yolo"]);
        if self.is_on("disable_web_search") {
            for tool in ["web_fetch", "web_search"] {
                self.said("--deny-tool", "disable_web_search");
                self.said(tool, "disable_web_search");
            }
        }
        if let Some(model) = self.model() {
            self.words(&[&format!("--model={model}")]);
        }
        self.option("reasoning_effort", "--effort");
        if let Some(servers) = self.servers(|kind, url| json!({ "type": kind, "url": url })) {
            let mut table = Table::default();
            table.insert("mcpServers", Tree::Table(servers));
            self.words(&["--additional-mcp-config", &table.json()]);
        }
        self.words(&["--output-format=json"]);
    }

    fn qwen_code(&mut self) {
        self.known.extend(["api_key", "base_url", "config"]);
        let url = self.text("base_url").or_else(|| self.node.get("base_url")?.text().map(str::to_owned));
        let url = url.or_else(|| self.env_text("OPENAI_BASE_URL"));
        let url = url.unwrap_or_else(|| "https://api.openai.com/v1".into());
        self.words(&[
            "--yolo",
            "--auth-type",
            "openai",
            "--model",
            "(the model)",
            "--openai-api-key",
            "(the key)",
        ]);
        self.words(&["--openai-base-url", &url, "--chat-recording", "--prompt=(the instruction)"]);
        let servers = self.servers(|kind, url| {
            let key = if kind == "http" { "httpUrl" } else { "url" };
            json!({ key: url })
        });
        let config = self.kwarg("config");
        if config.is_none() && servers.is_none() {
            return;
        }
        let mut over = Table::default();
        if let Some(servers) = servers {
            over.insert("mcpServers", Tree::Table(servers));
        }
        match config {
            Some(config) => self.own_file("~/.qwen/settings.json", config, over),
            None => {
                let text = over.json();
                self.written.push(Written::File("~/.qwen/settings.json".into(), text.into_bytes()));
            }
        }
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
