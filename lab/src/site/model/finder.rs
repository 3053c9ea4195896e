//! How the model finds tools that it has not been told of: by the tools that lead to others.
//!
//! Clients keep tools back until they are searched for, have tools inside a tool, and start agents of their own, which
//! have their own tools. Each is called once; what comes of it is on the tape.

use serde_json::{Value, json};

use super::turn::Turn;

/// What an agent of the client's own is asked. Nothing in it makes the model look for more.
const TASK: &str = "Say hello.";

/// The first tool that leads to others and was not called yet.
pub(super) fn next(offered: &[&str], called: &[&str]) -> Option<Turn> {
    // A namespace is no part of the name by which a call comes back.
    let plain = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let called: Vec<String> = called.iter().map(|name| plain(name)).collect();
    let fresh = offered.iter().filter(|name| !called.contains(&plain(name)));
    fresh.filter_map(|name| call(name, &plain(name))).next()
}

fn call(tool: &str, plain: &str) -> Option<Turn> {
    let with: Value = match plain {
        // Claude Code.
        "ToolSearch" => json!({ "query": "web search fetch url browser page", "max_results": 50 }),
        "Agent" => json!({ "description": "say hello", "prompt": TASK, "run_in_background": false }),
        "Task" => json!({ "description": "say hello", "prompt": TASK, "subagent_type": "general-purpose" }),
        // OpenCode.
        "task" => json!({ "description": "say hello", "prompt": TASK, "subagent_type": "general" }),
        // Gemini CLI.
        "invoke_agent" => json!({ "agent_name": "generalist", "prompt": TASK }),
        // Qwen Code.
        "agent" => json!({ "description": "say hello", "prompt": TASK, "subagent_type": "general-purpose" }),
        // Codex: names, and enough of each description to tell that it is one.
        "exec" => json!(
            "text(JSON.stringify(ALL_TOOLS.map(({ name, description }) => \
             ({ name, description: String(description).slice(0, 40) }))))"
        ),
        "spawn_agent" => json!({ "task_name": "hello", "message": TASK, "fork_turns": "none" }),
        "wait_agent" => json!({ "timeout_ms": 10_000 }),
        _ => return None,
    };
    Some(Turn::Call { tool: tool.to_owned(), with })
}

/// The strings of this field in all items.
pub(super) fn names<'a>(items: impl IntoIterator<Item = &'a Value>, pointer: &str) -> Vec<&'a str> {
    items.into_iter().filter_map(|item| item.pointer(pointer)?.as_str()).collect()
}
