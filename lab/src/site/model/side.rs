//! What clients ask a model's host beside the model, answered so that they go on.

use hyper::{Method, Response, StatusCode};
use serde_json::json;

use super::super::{Body, body};

/// A question beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Whether anybody is there.
    Hello,
    /// Which models there are.
    Models,
    /// What an xAI key may do.
    Key,
    /// What an organization forbids its Claude Code: nothing. Without an answer, some logins lose tools.
    Limits,
    /// Whether a web page may be fetched, which Claude Code asks first.
    Domain,
    /// Reports, which want no more than to be taken.
    Report,
    /// What a client can do without.
    Absent,
}

impl Side {
    pub(super) fn of(method: &Method, path: &str) -> Option<Self> {
        let below = |folder: &str| path.starts_with(folder);
        let read = [Method::GET, Method::HEAD].contains(method);
        Some(match path {
            "/api/hello" if read => Side::Hello,
            "/v1/api-key" if read => Side::Key,
            "/api/claude_code/policy_limits" if read => Side::Limits,
            "/api/web/domain_info" if read => Side::Domain,
            _ if read && path.ends_with("/models") => Side::Models,
            _ if below("/api/eval/") || below("/api/event_logging/") => Side::Report,
            _ if below("/api/claude_") || below("/api/directory/") || below("/mcp-registry/") => Side::Absent,
            _ => return None,
        })
    }

    pub(super) fn answer(self) -> Response<Body> {
        match self {
            Side::Hello => body::json(&json!({ "message": "hello" })),
            // OpenAI's list and Gemini's, under the names that each has.
            Side::Models => body::json(&json!({
                "object": "list",
                "data": [{ "id": "lab-1", "object": "model", "created": 1, "owned_by": "lab" }],
                "models": [],
            })),
            Side::Key => body::json(&json!({
                "name": "lab", "acls": ["api-key:model:*", "api-key:endpoint:*"], "api_key_blocked": false,
                "api_key_disabled": false, "team_blocked": false,
            })),
            Side::Limits => body::json(&json!({ "restrictions": {} })),
            Side::Domain => body::json(&json!({ "can_fetch": true })),
            Side::Report => body::json(&json!({})),
            Side::Absent => body::text(StatusCode::NOT_FOUND, "the lab has nothing of that\n"),
        }
    }
}
