//! How far a tool reaches, as its name or type tells.

use serde::Serialize;

use super::{How, Offered};

/// How far a tool reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// No further than the machine, or its name says nothing else.
    Local,
    /// Nobody knows: a type that is new, a tool of an MCP server.
    Unknown,
    /// To something that the provider runs.
    Provider,
    /// To the web.
    Web,
}

/// Types that the client carries out, or that only find other tools.
const CLIENT_TYPES: [&str; 10] = [
    "apply_patch",
    "bash",
    "computer",
    "local_shell",
    "memory",
    "shell",
    "str_replace_editor",
    "text_editor",
    "tool_search",
    "tool_search_tool",
];
/// Types that the provider carries out without the web.
const PROVIDER_TYPES: [&str; 8] = [
    "code_execution",
    "code_interpreter",
    "computer_use_preview",
    "file_search",
    "image_generation",
    "retrieval",
    "vertex_rag_store",
    "collections_search",
];
/// Types with which the provider goes to the web, or to whatever server the request names.
const WEB_TYPES: [&str; 9] = [
    "browser",
    "google_maps",
    "google_search",
    "live_search",
    "mcp",
    "url_context",
    "web",
    "x_search",
    "fetch",
];

/// Words in names of tools that go to the web.
const WORDS: [&str; 12] =
    ["internet", "fetch", "url", "urls", "http", "https", "google", "bing", "tavily", "exa", "wget", "curl"];
/// Beginnings of such words.
const BEGINNINGS: [&str; 3] = ["web", "brows", "duckduckgo"];

/// How far it reaches.
pub fn reach(tool: &Offered) -> Reach {
    match tool.how {
        How::ProviderType | How::SecondRequest => of_type(&tool.name),
        How::Request | How::ByItself => Reach::Web,
        How::Mentioned => Reach::Unknown,
        _ if sounds_like_web(&tool.name) && !tool.bare => Reach::Web,
        How::Mcp => Reach::Unknown,
        _ => Reach::Local,
    }
}

/// Whether the provider carries out a tool of this type.
pub(super) fn runs_at_provider(kind: &str) -> bool {
    !begins_with(&CLIENT_TYPES, &snake(kind))
}

fn of_type(kind: &str) -> Reach {
    let kind = snake(kind);
    match () {
        () if begins_with(&WEB_TYPES, &kind) || sounds_like_web(&kind) => Reach::Web,
        () if begins_with(&PROVIDER_TYPES, &kind) => Reach::Provider,
        () if begins_with(&CLIENT_TYPES, &kind) => Reach::Local,
        () => Reach::Unknown,
    }
}

/// Whether a name is one that tools for the web have.
pub(super) fn sounds_like_web(name: &str) -> bool {
    let snake = snake(name);
    let words: Vec<&str> = snake.split('_').filter(|word| !word.is_empty()).collect();
    let telling =
        |word: &&str| WORDS.contains(word) || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
    words.iter().any(telling)
        || words.windows(2).any(|pair| pair == ["x", "search"])
        || ["fetchurl", "searchweb", "readurl", "openurl"].contains(&words.concat().as_str())
}

/// The type itself, or with a version after it: `web_search_20250305`, `computer_use_preview_2025_03_11`.
fn begins_with(list: &[&str], kind: &str) -> bool {
    list.iter().any(|one| kind.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
}

/// Words in small letters, joined by `_`, whatever joined them before: `GoogleSearch`, `google-search`.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut last = '_';
    for c in name.chars() {
        let begins = c.is_ascii_uppercase() && (last.is_ascii_lowercase() || last.is_ascii_digit());
        if begins {
            snake.push('_');
        }
        snake.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
        last = c;
    }
    snake
}
