//! The tape: JSON Lines, a request each, and a last line that says how many are missing.

use serde::Deserialize;
use serde_json::Value;

use super::string;
use crate::Malformed;

/// What models were asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tape {
    /// The requests, in order.
    pub requests: Vec<Taped>,
    /// Requests that are missing.
    pub dropped: u64,
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Taped {
    /// GET, POST.
    pub method: String,
    /// As the client wrote it.
    pub host: String,
    /// With the query.
    pub path: String,
    /// Names in lower case.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// What the body is.
    #[serde(flatten)]
    pub body: Said,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "form", content = "body")]
pub enum Said {
    /// There is none.
    Nothing,
    /// JSON.
    Json(Value),
    /// Text that is no JSON.
    Text(String),
    /// Something else: compressed, encrypted, binary.
    Octets,
}

/// The last line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    dropped: u64,
}

impl Tape {
    /// Reads a tape. One that does not end as it should is not whole, and then what it lacks may be what counts.
    pub fn read(file: &str, source: &[u8]) -> Result<Self, Malformed> {
        let mut tape = Tape::default();
        let mut at = 0;
        let mut ended = false;
        for line in source.split(|octet| *octet == b'\n') {
            let here = at;
            at += line.len() + 1;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let wrong = |why: String| Malformed::at(file, source, here, why);
            if ended {
                return Err(wrong("a line after the last one, which counts what is missing".into()));
            }
            if let Ok(End { dropped }) = serde_json::from_slice(line) {
                (tape.dropped, ended) = (dropped, true);
                continue;
            }
            let request =
                serde_json::from_slice(line).map_err(|error| wrong(format!("no request: {error}")))?;
            tape.requests.push(request);
        }
        if !ended {
            let why =
                "the last line is missing, which counts what is missing: the run did not come to its end";
            return Err(Malformed::at(file, source, source.len(), why));
        }
        Ok(tape)
    }
}

impl Taped {
    /// Whether the path is one at which models are asked.
    pub(super) fn is_to_model(&self) -> bool {
        let path = self.path.split('?').next().unwrap_or_default().trim_end_matches('/');
        let endings = ["/v1/messages", "/responses", "/chat/completions", "/completions"];
        let verbs = [":generateContent", ":streamGenerateContent"];
        self.method == "POST" && endings.iter().chain(&verbs).any(|ending| path.ends_with(ending))
    }

    /// The model that is asked: Gemini has it in the path.
    pub(super) fn model<'a>(&'a self, body: &'a Value) -> Option<&'a str> {
        let in_path = || self.path.split("/models/").nth(1)?.split([':', '?']).next();
        string(body, "model").or_else(in_path)
    }
}

/// Whether a body is one for a model, whatever its path says: to count tokens, or at a host of somebody's own.
pub(super) fn looks_like_model(body: &Value) -> bool {
    let has_list = |field: &str| body.get(field).is_some_and(Value::is_array);
    let has_model = string(body, "model").is_some();
    has_list("tools")
        || has_list("contents")
        || (has_model && ["messages", "input", "prompt"].iter().any(|field| body.get(field).is_some()))
}
