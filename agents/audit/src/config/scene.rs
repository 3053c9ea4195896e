//! A start being looked at: reads files once, and keeps what was found.

use closedbook_document::{Format, Node, Place};

use super::{Bringer, Content, Launch, Origin, Remark, Report, ToolReport};
use crate::Malformed;

/// A start being looked at.
pub struct Scene<'a> {
    launch: &'a Launch<'a>,
    report: Report,
}

/// A document of the agent's files.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its path as the agent sees it.
    pub path: String,
    /// The tree.
    pub root: Node,
    source: Vec<u8>,
}

/// What a file turned out to be.
#[derive(Debug, Clone)]
pub enum Loaded {
    /// There is none.
    Absent,
    /// A document.
    Document(Document),
    /// A file that is no document, which the report has among the malformed already. What the CLI does with such a file
    /// is the CLI's module to say.
    Malformed(String),
    /// Something that can't be read, which the report has too.
    Unreadable(String),
}

impl<'a> Scene<'a> {
    /// Begins.
    pub fn new(agent: &str, launch: &'a Launch<'a>) -> Self {
        let report = Report {
            agent: agent.to_owned(),
            version: launch.version.clone(),
            tools: Vec::new(),
            brings: Vec::new(),
            remarks: Vec::new(),
            malformed: Vec::new(),
            read: Vec::new(),
        };
        Self { launch, report }
    }

    /// The start.
    pub fn launch(&self) -> &'a Launch<'a> {
        self.launch
    }

    /// A path below the home folder.
    pub fn home(&self, path: &str) -> String {
        join(&self.launch.home, path)
    }

    /// A path below the working directory.
    pub fn workdir(&self, path: &str) -> String {
        join(&self.launch.workdir, path)
    }

    /// An environment variable.
    pub fn env(&self, name: &str) -> Option<&'a str> {
        self.launch.env.get(name).map(|(value, _)| value.as_str())
    }

    /// An environment variable, with where it is said.
    pub fn variable(&self, name: &str) -> Option<(&'a str, &'a Origin)> {
        self.launch.env.get(name).map(|(value, origin)| (value.as_str(), origin))
    }

    /// Whether something stands at this path: a file, or a folder that is not empty.
    pub fn exists(&self, path: &str) -> bool {
        self.launch.files.read(path) != Content::Absent || !self.launch.files.list(path).is_empty()
    }

    /// The names in a folder.
    pub fn list(&self, folder: &str) -> Vec<String> {
        self.launch.files.list(folder)
    }

    /// The bytes of a file, noted as read.
    pub fn bytes(&mut self, path: &str) -> Content {
        let content = self.launch.files.read(path);
        match &content {
            Content::Absent => {}
            Content::Bytes(_) => self.report.read.push(path.to_owned()),
            Content::Unreadable(why) => {
                self.malformed(Malformed::whole(path, format!("can't be read: {why}")))
            }
        }
        content
    }

    /// A file that should be a document of this format.
    pub fn document(&mut self, path: &str, format: Format) -> Loaded {
        let source = match self.bytes(path) {
            Content::Absent => return Loaded::Absent,
            Content::Unreadable(why) => return Loaded::Unreadable(why),
            Content::Bytes(source) => source,
        };
        match format.read_bytes(&source) {
            Ok(root) => Loaded::Document(Document { path: path.to_owned(), root, source }),
            Err(fault) => {
                let reason = format!("no {}: {fault}", format.title());
                self.malformed(Malformed::at(path, &source, fault.at, reason.clone()));
                Loaded::Malformed(reason)
            }
        }
    }

    /// A document at a path that the CLI does not read; `None` if there is none that can be read.
    pub(crate) fn stray(&mut self, path: &str, format: Format) -> Option<Document> {
        let Content::Bytes(source) = self.launch.files.read(path) else { return None };
        let root = format.read_bytes(&source).ok()?;
        self.report.read.push(path.to_owned());
        Some(Document { path: path.to_owned(), root, source })
    }

    /// Notes a tool.
    pub fn tool(&mut self, tool: ToolReport) {
        self.report.tools.push(tool);
    }

    /// Notes something that brings the web.
    pub fn brings(&mut self, bringer: Bringer) {
        self.report.brings.push(bringer);
    }

    /// Notes something a person should know.
    pub fn remark(&mut self, origin: Origin, text: impl Into<String>) {
        self.report.remarks.push(Remark { origin, text: text.into() });
    }

    /// Notes input that can't be read.
    pub fn malformed(&mut self, malformed: Malformed) {
        self.report.malformed.push(malformed);
    }

    /// Ends.
    pub fn finish(self) -> Report {
        self.report
    }
}

impl Document {
    /// A document of its parts.
    pub(crate) fn new(path: &str, root: Node, source: Vec<u8>) -> Self {
        Self { path: path.to_owned(), root, source }
    }

    /// Where something of this document stands.
    pub fn origin(&self, at: usize) -> Origin {
        Origin::File { path: self.path.clone(), place: Some(Place::of(&self.source, at)) }
    }

    /// A fault of this document: what stands there is nothing that the CLI accepts.
    pub fn fault(&self, at: usize, reason: impl Into<String>) -> Malformed {
        Malformed::at(&self.path, &self.source, at, reason)
    }
}

fn join(folder: &str, path: &str) -> String {
    format!("{}/{path}", folder.trim_end_matches('/'))
}
