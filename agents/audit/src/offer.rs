//! What a CLI offers its model: read from what it really sent, not from how it was configured.
//!
//! The list of tools in a request is not enough. CLIs keep tools back and name them in a text, hide them in the
//! description of another tool, hang them on an item of the conversation, or start a second request that has a tool of
//! the provider. All of these are read here, from whole requests as a lab has them on its tape and from the events that
//! the CLI prints.
//!
//! What is not understood is [`Unread`], and never "no web tool".

mod events;
mod extras;
mod inside;
mod judge;
mod list;
mod mentions;
mod reach;
mod tape;
mod text;

use serde::Serialize;
use serde_json::Value;

pub use judge::{Finding, Judgement, Weight, judge};
pub use reach::{Reach, reach};
pub use tape::{Said, Tape, Taped};

/// Tools that are looked at. No CLI has a thousand.
const MOST: usize = 10_000;
/// Other things that are noted: models, hosts, what was not understood.
const MOST_NOTED: usize = 1000;
/// How deep documents are followed. What lies deeper is no part of any protocol.
const DEEPEST: usize = 64;

/// What a CLI offered its model, in one start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// The tools, each once for each way in which it is offered.
    pub tools: Vec<Offered>,
    /// The models that were asked, in order.
    pub models: Vec<String>,
    /// The hosts that were asked, in order.
    pub hosts: Vec<String>,
    /// Requests to models that were understood.
    pub turns: usize,
    /// What was not understood, so that nobody can say what is not offered.
    pub unread: Vec<Unread>,
    /// How many tools were looked at.
    #[serde(skip)]
    looked_at: usize,
}

/// A tool that a model was offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offered {
    /// Its name, as the model would call it; of a provider's own tool its type.
    pub name: String,
    /// How it is offered.
    pub how: How,
    /// Whether it runs at the provider, where no filter of this machine sees it.
    pub provider_side: bool,
    /// Whether it takes no arguments, so that the model can't tell it where to go.
    pub bare: bool,
    /// The number of the request on the tape, from 0; `None` for what the CLI printed.
    pub request: Option<usize>,
}

/// How a tool is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// In the request's list of tools.
    Declared,
    /// There too, as a type that the provider knows.
    ProviderType,
    /// Kept back: named, and loaded or called through another tool.
    Deferred,
    /// Described inside another tool.
    InsideAnother,
    /// As the tool of an MCP server.
    Mcp,
    /// As a provider's type in a request that is not the first: a tool of the CLI that asks on its own.
    SecondRequest,
    /// By a field of the request, or by the model's name.
    Request,
    /// In a list that the CLI prints.
    Listed,
    /// Not as a tool: the CLI itself fetches what a prompt names.
    ByItself,
    /// Named in a request, in a place that is no known way to offer a tool.
    Mentioned,
}

/// Something that was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// The number of the request on the tape, from 0.
    pub request: Option<usize>,
    /// What, and why that matters.
    pub why: String,
}

impl Offer {
    /// Reads what was sent, and what the CLI printed, line by line. `names` are those of web tools, which count wherever
    /// they are named.
    pub fn read(tape: &Tape, printed: &str, names: &[&str]) -> Self {
        let mut offer = Offer::default();
        for (number, request) in tape.requests.iter().enumerate() {
            offer.request(number, request, names);
        }
        if tape.dropped > 0 {
            offer.unread(None, format!("{} requests found no room on the tape", tape.dropped));
        }
        events::read(&mut offer, printed);
        offer.settle();
        offer
    }

    /// What is known where there is no tape that could be read: nothing, and why.
    pub fn unreadable(why: impl Into<String>) -> Self {
        let mut offer = Offer::default();
        offer.unread(None, why);
        offer
    }

    /// The tools that reach the web, or may, as far as their names and types tell.
    pub fn web(&self) -> impl Iterator<Item = (&Offered, Reach)> {
        self.tools.iter().map(|tool| (tool, reach(tool))).filter(|(_, reach)| *reach != Reach::Local)
    }

    /// Notes that the CLI itself asked for a host that only its prompt named.
    pub fn fetched(&mut self, host: &str) {
        self.add(&format!("URL of the prompt ({host})"), How::ByItself, false, None);
    }

    fn request(&mut self, number: usize, request: &Taped, names: &[&str]) {
        let to_model = request.is_to_model();
        let body = match &request.body {
            Said::Json(body) => body,
            Said::Nothing if !to_model || request.method != "POST" => return,
            _ if !to_model => return,
            _ => {
                let why = format!("{} {}: the body is not JSON", request.method, request.path);
                return self.unread(Some(number), why);
            }
        };
        // Behind a code-assist host the request lies one level deeper.
        let inner = body.get("request").filter(|inner| inner.get("contents").is_some());
        let body = inner.unwrap_or(body);
        if !to_model && !tape::looks_like_model(body) {
            return;
        }
        if !body.is_object() {
            return self.unread(Some(number), format!("{}: the body is no object", request.path));
        }
        self.turns += 1;
        note(&mut self.hosts, &request.host);
        if let Some(model) = request.model(body) {
            note(&mut self.models, model);
            extras::model(self, number, model);
        }
        list::read(self, number, body);
        extras::fields(self, number, body);
        text::read(self, number, body);
        // After all others: what they have found is no mere mention.
        mentions::read(self, number, body, names);
    }

    /// Adds a tool, unless the same is there.
    fn add(&mut self, name: &str, how: How, provider_side: bool, request: Option<usize>) {
        let how = match how {
            How::Declared | How::Deferred | How::Listed | How::InsideAnother if is_mcp(name) => How::Mcp,
            how => how,
        };
        if !self.looks_at_one_more(request) {
            return;
        }
        if !self.tools.iter().any(|tool| tool.name == name && tool.how == how) {
            self.tools.push(Offered { name: name.to_owned(), how, provider_side, bare: false, request });
        }
    }

    /// Whether there is room for one more tool; that there is none makes the offer unreadable.
    fn looks_at_one_more(&mut self, request: Option<usize>) -> bool {
        self.looked_at += 1;
        if self.looked_at > MOST {
            self.unread(request, format!("more than {MOST} tools"));
        }
        self.looked_at <= MOST
    }

    fn unread(&mut self, request: Option<usize>, why: impl Into<String>) {
        let unread = Unread { request, why: why.into() };
        // There is one at least, and that is what counts.
        if self.unread.len() < MOST_NOTED && !self.unread.contains(&unread) {
            self.unread.push(unread);
        }
    }

    /// A provider's type in a later request than the first with tools is what a tool of the CLI asked for.
    fn settle(&mut self) {
        let first = self.tools.iter().filter_map(|tool| tool.request).min();
        for tool in &mut self.tools {
            if tool.how == How::ProviderType && tool.request > first {
                tool.how = How::SecondRequest;
            }
        }
    }
}

impl How {
    /// In words, for people.
    pub fn words(self) -> &'static str {
        match self {
            How::Declared => "declared",
            How::ProviderType => "a provider's type",
            How::Deferred => "kept back, named in a text",
            How::InsideAnother => "described inside another tool",
            How::Mcp => "of an MCP server",
            How::SecondRequest => "in a second request",
            How::Request => "by a field of the request",
            How::Listed => "in the CLI's own list",
            How::ByItself => "fetched by the CLI itself",
            How::Mentioned => "named in a place where tools are not offered as far as is known",
        }
    }
}

fn is_mcp(name: &str) -> bool {
    name.starts_with("mcp__") || name.contains("-mcp-server-") || name.contains(".mcp__")
}

fn note(list: &mut Vec<String>, what: &str) {
    if list.len() < MOST_NOTED && !list.iter().any(|one| one == what) {
        list.push(what.to_owned());
    }
}

/// The string of a field.
fn string<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

#[cfg(test)]
mod tests;
