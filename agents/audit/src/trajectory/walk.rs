//! Finds tool calls and events of the provider in a transcript's values, wherever they stand.
//!
//! Every CLI nests them differently, and differently in the next version, so nothing here follows a path from the root:
//! an object that has the shape of a call is one. What a call carries is not searched for further calls.

use std::borrow::Cow;

use super::finding::Raw;
use super::json::Json;

mod calls;
mod names;
mod provider;

use names::CALLS;

/// Where in a transcript something stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spot {
    pub(crate) line: Option<usize>,
    pub(crate) step: Option<usize>,
    pub(crate) step_id: Option<String>,
    pub(crate) ts: Option<String>,
}

/// A call of a tool.
pub(crate) struct Call<'v, 'a> {
    pub(crate) name: Cow<'v, str>,
    pub(crate) arguments: &'v Json<'a>,
    pub(crate) id: Option<&'v str>,
    /// The call is made at the provider.
    pub(crate) provider: bool,
}

/// Takes what is found.
pub(crate) trait Sink {
    /// A tool was called.
    fn call(&mut self, spot: &Spot, call: Call<'_, '_>);
    /// The provider did something.
    fn event(&mut self, spot: &Spot, name: &str, id: Option<&str>, raw: Raw);
    /// The agent acted or spoke.
    fn step(&mut self);
}

/// Walks a value.
pub(crate) fn walk(value: &Json<'_>, spot: &Spot, sink: &mut dyn Sink) {
    visit(value, "", spot, sink);
}

fn visit(value: &Json<'_>, key: &str, spot: &Spot, sink: &mut dyn Sink) {
    match value {
        Json::List(items) => list(items, key, spot, sink),
        Json::Table(_) => table(value, key, spot, sink),
        _ => {}
    }
}

fn list(items: &[Json<'_>], key: &str, spot: &Spot, sink: &mut dyn Sink) {
    let steps = matches!(key, "steps" | "messages" | "history");
    for (index, item) in items.iter().enumerate() {
        if steps && item.is_table() {
            let mut spot = spot.clone();
            spot.step = Some(index);
            visit(item, key, &spot, sink);
        } else {
            visit(item, key, spot, sink);
        }
    }
}

fn table(value: &Json<'_>, key: &str, spot: &Spot, sink: &mut dyn Sink) {
    let owned = here(value, key, spot);
    let spot = owned.as_ref().unwrap_or(spot);
    if is_step(value, key) {
        sink.step();
    }
    provider::offers(value, spot, sink);
    provider::events(value, spot, sink);
    let carried = calls::calls(value, key, spot, sink);
    for (key, inner) in value.fields() {
        let key = key.as_ref();
        // Declarations of tools are no calls, and what a call carries is its own matter.
        if matches!(key, "tools" | "additional_tools" | "tool_definitions") && matches!(inner, Json::List(_))
            || carried.contains(&key)
        {
            continue;
        }
        visit(inner, key, spot, sink);
    }
}

/// The place, where this object says more of it.
fn here(value: &Json<'_>, key: &str, spot: &Spot) -> Option<Spot> {
    let ts =
        value.first(&["timestamp", "ts", "time", "startTime", "time_created", "created_at"]).and_then(|ts| {
            match ts {
                Json::Text(text) => Some(text.to_string()),
                Json::Number(text) => Some((*text).to_owned()),
                Json::Table(_) => {
                    ts.first(&["start", "created"]).and_then(Json::as_number).map(|ms| format!("{ms:.0}"))
                }
                _ => None,
            }
        });
    let step_id = match value.get("step_id") {
        Some(Json::Text(text)) => Some(text.to_string()),
        Some(Json::Number(text)) => Some((*text).to_owned()),
        _ if matches!(key, "" | "messages") => {
            value.first_text(&["uuid", "id", "message_id"]).map(str::to_owned)
        }
        _ => None,
    };
    if ts.is_none() && step_id.is_none() {
        return None;
    }
    let mut spot = spot.clone();
    spot.ts = ts.or(spot.ts);
    spot.step_id = step_id.or(spot.step_id);
    Some(spot)
}

/// Whether an object is something that the agent did or said.
fn is_step(value: &Json<'_>, key: &str) -> bool {
    if key == "steps" {
        return match value.text("source") {
            Some(source) => source == "agent",
            None => true,
        };
    }
    if matches!(value.text("role"), Some("assistant" | "model" | "agent")) {
        return true;
    }
    let Some(kind) = value.text("type").or_else(|| value.text("sessionUpdate")) else { return false };
    CALLS.contains(&kind.to_ascii_lowercase().as_str())
        || matches!(
            kind,
            "assistant"
                | "gemini"
                | "model"
                | "agent_message"
                | "agent_message_chunk"
                | "agent_thought_chunk"
                | "assistant.message"
                | "assistant.turn_start"
                | "step_start"
                | "step-start"
                | "StepBegin"
                | "ContentPart"
                | "turn.started"
                | "item.started"
                | "agent_reasoning"
                | "thinking"
                | "step.begin"
        )
}
