//! What is found.

use serde::Serialize;

use super::hosts::UNKNOWN;
use super::join::Seen;

/// The longest excerpt, in characters.
pub(crate) const EXCERPT: usize = 300;

/// Something that a transcript shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The transcript, as it was named.
    pub file: String,
    /// The line in it, for transcripts of lines; counted from 1.
    pub line: Option<usize>,
    /// The step in it, for transcripts with steps; counted from 0, as TrialDesignBench does.
    pub step: Option<usize>,
    /// The transcript's own name for the step: a number or an id.
    pub step_id: Option<String>,
    /// The tool call's id.
    pub call_id: Option<String>,
    /// When, as the transcript has it.
    pub ts: Option<String>,
    /// The tool that was called; for an event of the provider, the event.
    pub tool: String,
    /// What kind of thing it is.
    pub kind: Kind,
    /// Whether it counts.
    pub level: Level,
    /// How sure that is.
    pub confidence: Confidence,
    /// Where it ran.
    pub runs: Runs,
    /// What it was, in a few words.
    pub reason: String,
    /// The place itself, at most 300 characters.
    pub what: String,
    /// The hosts it was aimed at, as far as they can be read.
    pub hosts: Vec<String>,
    /// What it was wrapped in, the outermost first: `bash -c`, `base64`, a script.
    pub via: Vec<String>,
    /// What the decision log says, when one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Seen>,
}

/// Kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A tool that searches or reads the web.
    WebTool,
    /// Something that the provider did, where no network rule of the task can see it.
    ProviderTool,
    /// A tool of an MCP server.
    McpCall,
    /// An address in a tool's arguments.
    Url,
    /// A program that talks to the network.
    NetworkCommand,
    /// A package manager that fetches.
    PackageInstall,
    /// A forge or a remote of a version control system.
    CodeHost,
    /// A shell's own sockets: `/dev/tcp`.
    DevTcp,
    /// A question to the DNS.
    Dns,
    /// Network use in program code.
    NetworkCode,
    /// A proxy, or a program that leads through one.
    Proxy,
    /// Something that is run and can't be read.
    Opaque,
    /// Web tools that were offered to the model.
    Offer,
}

impl Kind {
    /// The word for it, in every output.
    pub fn word(self) -> &'static str {
        match self {
            Kind::WebTool => "web-tool",
            Kind::ProviderTool => "provider-tool",
            Kind::McpCall => "mcp-call",
            Kind::Url => "url",
            Kind::NetworkCommand => "network-command",
            Kind::PackageInstall => "package-install",
            Kind::CodeHost => "code-host",
            Kind::DevTcp => "dev-tcp",
            Kind::Dns => "dns",
            Kind::NetworkCode => "network-code",
            Kind::Proxy => "proxy",
            Kind::Opaque => "opaque",
            Kind::Offer => "offer",
        }
    }
}

/// Whether a finding counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Worth knowing, no network use: a URL that is only text, a web tool that was offered and not called.
    Note,
    /// Network use, or the attempt.
    Violation,
}

impl Level {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Violation => "violation",
        }
    }
}

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Text that nothing runs.
    TextOnly,
    /// It follows from something that could not be read whole.
    Likely,
    /// It is what it says.
    Certain,
}

/// Where something ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Runs {
    /// In the task, where network rules hold.
    Client,
    /// At the model's provider, where they don't.
    Provider,
}

/// A finding before it has a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) kind: Kind,
    pub(crate) level: Level,
    pub(crate) confidence: Confidence,
    pub(crate) runs: Runs,
    pub(crate) reason: String,
    pub(crate) what: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) via: Vec<String>,
}

impl Raw {
    pub(crate) fn new(kind: Kind, reason: impl Into<String>, what: &str) -> Self {
        Self {
            kind,
            level: Level::Violation,
            confidence: Confidence::Certain,
            runs: Runs::Client,
            reason: reason.into(),
            what: excerpt(what),
            hosts: Vec::new(),
            via: Vec::new(),
        }
    }

    pub(crate) fn hosts(mut self, hosts: Vec<String>) -> Self {
        self.hosts = hosts;
        self
    }

    pub(crate) fn likely(mut self) -> Self {
        self.confidence = Confidence::Likely;
        self
    }

    pub(crate) fn provider(mut self) -> Self {
        self.runs = Runs::Provider;
        self
    }

    pub(crate) fn note(mut self) -> Self {
        self.level = Level::Note;
        self
    }

    pub(crate) fn text_only(mut self) -> Self {
        self.level = Level::Note;
        self.confidence = Confidence::TextOnly;
        self
    }
}

/// The beginning of a text.
pub(crate) fn excerpt(text: &str) -> String {
    text.trim().chars().take(EXCERPT).map(|c| if c == UNKNOWN { '?' } else { c }).collect()
}

/// The text around a place, so that the place is in it.
pub(crate) fn around(text: &str, at: usize) -> String {
    let mut start = at.saturating_sub(60).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    excerpt(text.get(start..).unwrap_or_default())
}
