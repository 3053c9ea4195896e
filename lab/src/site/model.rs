//! A model of few words, in the protocols of those that agents talk to, so that a client can be shown at work and what
//! it offers its model can be read.
//!
//! The path tells the protocol, on whatever host. A prompt with `@@call TOOL {json}` (or `@@call TOOL "text"`) makes
//! the model call that tool once; after its result the turn ends, as every other turn does at once. What was asked goes
//! to the lab's tape. `@@more-tools` makes it look, where it knows how, for tools that it has not been told of.

mod anthropic;
mod chat;
mod finder;
mod gemini;
mod responses;
mod shape;
mod side;
mod turn;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, UPGRADE};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;

use super::request::Seen;
use super::{Body, Visit, body, pace};
use crate::tape::Head;
use side::Side;

/// More than a context window holds.
const LONGEST: usize = 64 * 1024 * 1024;

/// What a request wants of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Errand {
    /// Anthropic's Messages.
    Messages,
    /// How many tokens that would be, in Anthropic's way.
    CountMessages,
    /// OpenAI's Responses.
    Responses,
    /// The same over a WebSocket, which is not spoken.
    Socket,
    /// OpenAI's Chat Completions.
    Chat,
    /// Gemini's generateContent.
    Gemini { stream: bool },
    /// How many tokens that would be, in Gemini's way.
    CountGemini,
    /// What clients ask beside.
    Side(Side),
    /// Nothing the lab knows, but written down: it may be a model's protocol all the same.
    Stranger,
}

impl Errand {
    pub(super) fn of<B>(request: &Request<B>) -> Option<Self> {
        let path = request.uri().path().trim_end_matches('/');
        if let Some(side) = Side::of(request.method(), path) {
            return Some(Errand::Side(side));
        }
        let last = path.rsplit('/').next().unwrap_or_default();
        let ends = |ending: &str| path.ends_with(ending);
        match (request.method(), last.rsplit_once(':')) {
            (&Method::POST, Some((_, "generateContent"))) => Some(Errand::Gemini { stream: false }),
            (&Method::POST, Some((_, "streamGenerateContent"))) => Some(Errand::Gemini { stream: true }),
            (&Method::POST, Some((_, "countTokens"))) => Some(Errand::CountGemini),
            (&Method::POST, _) if ends("/v1/messages") => Some(Errand::Messages),
            (&Method::POST, _) if ends("/v1/messages/count_tokens") => Some(Errand::CountMessages),
            (&Method::POST, _) if ends("/chat/completions") => Some(Errand::Chat),
            (&Method::POST, _) if ends("/responses") => Some(Errand::Responses),
            (&Method::GET, _) if ends("/responses") && request.headers().contains_key(UPGRADE) => {
                Some(Errand::Socket)
            }
            (&Method::POST, _) if says_json(request) => Some(Errand::Stranger),
            _ => None,
        }
    }
}

/// Does it, and writes it down. `None` for what is to be answered as any other request.
pub(super) async fn answer(
    request: Request<Incoming>,
    errand: Errand,
    seen: &Seen,
    visit: &Visit,
) -> Result<Response<Body>, Request<()>> {
    let head = Head::of(&request, &seen.host);
    let (parts, incoming) = request.into_parts();
    let Ok(asked) = Limited::new(incoming, LONGEST).collect().await else {
        visit.lab.tape.drop_one();
        return Ok(body::text(StatusCode::PAYLOAD_TOO_LARGE, "too long a question\n"));
    };
    let octets = asked.to_bytes();
    visit.lab.tape.add(head, octets.clone());
    // What is no JSON is answered too: a client is shown at work, not judged.
    let asked: Value = serde_json::from_slice(&octets).unwrap_or_default();
    Ok(match errand {
        Errand::Messages => anthropic::messages(&asked),
        Errand::CountMessages => body::json(&serde_json::json!({ "input_tokens": 1 })),
        Errand::Responses => responses::responses(&asked),
        Errand::Socket => body::text(StatusCode::UPGRADE_REQUIRED, "no WebSocket here\n"),
        Errand::Chat => chat::completions(&asked),
        Errand::Gemini { stream } => gemini::generate(&asked, stream, parts.uri.query()),
        Errand::CountGemini => body::json(&serde_json::json!({ "totalTokens": 1 })),
        Errand::Side(side) => side.answer(),
        Errand::Stranger => return Err(Request::from_parts(parts, ())),
    })
}

fn says_json<B>(request: &Request<B>) -> bool {
    let media = request.headers().get(CONTENT_TYPE).map(|value| value.as_bytes());
    media.is_some_and(|media| media.windows(4).any(|four| four.eq_ignore_ascii_case(b"json")))
}

/// Server-sent events, all there are.
fn stream(events: impl IntoIterator<Item = Bytes, IntoIter: Send + 'static>) -> Response<Body> {
    let events = pace::paced(events.into_iter(), std::time::Duration::ZERO);
    body::typed(StatusCode::OK, "text/event-stream", events)
}

/// An event that is named by its `type`, as Anthropic's and OpenAI's are.
fn named(value: &Value) -> Bytes {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    Bytes::from(format!("event: {kind}\ndata: {value}\n\n"))
}

/// An event without a name.
fn data(value: &Value) -> Bytes {
    Bytes::from(format!("data: {value}\n\n"))
}

fn model(asked: &Value) -> &str {
    asked.get("model").and_then(Value::as_str).unwrap_or("lab-1")
}

fn is_streamed(asked: &Value) -> bool {
    asked.get("stream").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests;
