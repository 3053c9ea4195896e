//! What each adapter writes and passes.

use closedbook_document::{Node, Value};
use serde_json::json;

use super::super::Written;
use super::super::write::{Table, Tree};
use super::{Adapter, LOGS};

impl Adapter<'_> {
    pub(super) fn claude_code(&mut self) {
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

    pub(super) fn codex(&mut self) {
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

    pub(super) fn grok_build(&mut self) {
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

    pub(super) fn opencode(&mut self) {
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

    pub(super) fn gemini_cli(&mut self) {
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

    pub(super) fn copilot_cli(&mut self) {
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

    pub(super) fn qwen_code(&mut self) {
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
}
