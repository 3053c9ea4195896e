//! The transcripts' formats, and how each is told.

use super::json::Json;

/// A format of transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The trajectory interchange format of Harbor.
    Atif,
    /// Claude Code: the session's file, and `--output-format stream-json`.
    ClaudeCode,
    /// Codex: the rollout, and `exec --json`.
    Codex,
    /// OpenCode: `run --format json`, `export`, and its database.
    Opencode,
    /// Gemini CLI: the chat's file, and stream-json.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// Copilot CLI: `events.jsonl`.
    Copilot,
    /// Kimi: `wire.jsonl`.
    Kimi,
    /// Grok Build: `updates.jsonl`.
    Grok,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 9] = [
        Format::Atif,
        Format::ClaudeCode,
        Format::Codex,
        Format::Opencode,
        Format::Gemini,
        Format::Qwen,
        Format::Copilot,
        Format::Kimi,
        Format::Grok,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Format::Atif => "atif",
            Format::ClaudeCode => "claude-code",
            Format::Codex => "codex",
            Format::Opencode => "opencode",
            Format::Gemini => "gemini",
            Format::Qwen => "qwen",
            Format::Copilot => "copilot",
            Format::Kimi => "kimi",
            Format::Grok => "grok",
        }
    }

    /// The format by its word.
    pub fn from_word(word: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.word() == word)
    }
}

/// The format of a transcript that is one value.
pub(crate) fn of_document(value: &Json<'_>) -> Option<Format> {
    if matches!(value.get("steps"), Some(Json::List(_))) {
        return Some(Format::Atif);
    }
    if matches!(value.get("messages"), Some(Json::List(_))) {
        let parts = value
            .get("messages")
            .is_some_and(|messages| messages.items().iter().any(|message| message.get("parts").is_some()));
        if parts && value.get("info").is_some() {
            return Some(Format::Opencode);
        }
        if value.get("sessionId").is_some() {
            return Some(Format::Gemini);
        }
    }
    if let Json::List(items) = value {
        return items.iter().take(100).find_map(of_line);
    }
    of_line(value)
}

/// The format of a transcript of lines, by one of them.
pub(crate) fn of_line(value: &Json<'_>) -> Option<Format> {
    if value.get("sessionUpdate").is_some()
        || value
            .get("params")
            .or(value.get("update"))
            .is_some_and(|inner| inner.get("update").is_some() || inner.get("sessionUpdate").is_some())
    {
        return Some(Format::Grok);
    }
    if let Some(kind) = value.get("message").and_then(|message| message.text("type"))
        && matches!(
            kind,
            "TurnBegin"
                | "TurnEnd"
                | "StepBegin"
                | "ContentPart"
                | "ToolCall"
                | "ToolCallPart"
                | "ToolResult"
                | "StatusUpdate"
        )
    {
        return Some(Format::Kimi);
    }
    let kind = value.text("type")?;
    let head = kind.split('.').next().unwrap_or_default();
    match kind {
        "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted" | "thread.started" => {
            return Some(Format::Codex);
        }
        "turn.started" | "turn.completed" | "turn.failed" | "item.started" | "item.updated"
        | "item.completed" => return Some(Format::Codex),
        "metadata" if value.get("protocol_version").is_some() => return Some(Format::Kimi),
        "context.append_message" | "turn.prompt" | "config.update" | "context.append_loop_event" => {
            return Some(Format::Kimi);
        }
        _ => {}
    }
    if value.get("part").is_some_and(|part| part.get("type").is_some()) && value.get("sessionID").is_some() {
        return Some(Format::Opencode);
    }
    if matches!(head, "session" | "assistant" | "tool" | "user" | "system" | "abort" | "hook")
        && kind.contains('.')
        && value.get("data").is_some()
    {
        return Some(Format::Copilot);
    }
    if value.get("message").is_some_and(|message| message.get("parts").is_some()) {
        return Some(Format::Qwen);
    }
    if value.get("qwen_code_version").is_some() {
        return Some(Format::Qwen);
    }
    if matches!(kind, "gemini")
        || (matches!(kind, "init" | "message" | "tool_use" | "tool_result")
            && value.get("message").is_none()
            && (value.get("timestamp").is_some()
                || value.get("tool_name").is_some()
                || value.get("session_id").is_some()))
    {
        return Some(Format::Gemini);
    }
    let claude = matches!(kind, "assistant" | "user") && value.get("message").is_some_and(Json::is_table)
        || kind == "system"
            && (value.get("session_id").is_some()
                || value.get("sessionId").is_some()
                || value.get("subtype").is_some())
        || kind == "result" && value.get("subtype").is_some()
        || kind == "attachment" && value.get("attachment").is_some()
        || matches!(
            kind,
            "summary" | "queue-operation" | "file-history-snapshot" | "custom-title" | "stream_event"
        ) && (value.get("sessionId").is_some()
            || value.get("leafUuid").is_some()
            || value.get("messageId").is_some()
            || value.get("event").is_some());
    claude.then_some(Format::ClaudeCode)
}
