//! A start being looked at: reads files once, and keeps what was found.

use std::cell::Cell;

use closedbook_document::{Format, Node, Place, Syntax, Unreadable};

use super::{Bringer, Content, Launch, Origin, Remark, Report, Setting, State, ToolReport};
use crate::Malformed;

/// A start being looked at.
pub struct Scene<'a> {
    launch: &'a Launch<'a>,
    report: Report,
    /// How many folders were looked into.
    listed: Cell<usize>,
}

/// Links that lead in circles make a small tree endless.
const MOST_FOLDERS: usize = 4096;

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
        Self { launch, report, listed: Cell::new(0) }
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

    /// An environment variable that is set and not empty, with where it is said.
    pub fn variable(&self, name: &str) -> Option<(&'a str, &'a Origin)> {
        let (value, origin) = self.launch.env.get(name)?;
        (!value.is_empty()).then_some((value.as_str(), origin))
    }

    /// A path as the program takes it: from the working directory if it is not absolute.
    pub fn resolved(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { self.workdir(path) }
    }

    /// The working directory and the folders above it, nearest first.
    pub fn workdir_and_above(&self) -> Vec<String> {
        let mut folders = Vec::new();
        let mut folder = self.launch.workdir.trim_end_matches('/');
        // Deeper paths than this are no one's.
        while folders.len() < 256 {
            folders.push(if folder.is_empty() { "/".to_owned() } else { folder.to_owned() });
            match folder.rfind('/') {
                Some(at) if !folder.is_empty() => folder = folder.get(..at).unwrap_or_default(),
                _ => break,
            }
        }
        folders
    }

    /// Whether something stands at this path, a folder included.
    pub fn exists(&self, path: &str) -> bool {
        self.launch.files.read(path) != Content::Absent || !self.launch.files.list(path).is_empty()
    }

    /// The names in a folder, sorted; nothing once more folders were looked into than anybody's settings take. The
    /// report says so then.
    pub fn list(&self, folder: &str) -> Vec<String> {
        self.listed.set(self.listed.get().saturating_add(1));
        if self.listed.get() > MOST_FOLDERS { Vec::new() } else { self.launch.files.list(folder) }
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
        self.parse(path, source, format)
    }

    /// A document as JavaScript reads its text: bytes that are no UTF-8 become replacement characters. They are
    /// reported, and what the rest says counts.
    pub fn javascript_document(&mut self, path: &str, format: Format) -> Loaded {
        let source = match self.bytes(path) {
            Content::Absent => return Loaded::Absent,
            Content::Unreadable(why) => return Loaded::Unreadable(why),
            Content::Bytes(source) => source,
        };
        self.parse_javascript(path, source, format)
    }

    /// The same of bytes that were read already.
    pub(crate) fn parse_javascript(&mut self, path: &str, source: Vec<u8>, format: Format) -> Loaded {
        match str::from_utf8(&source) {
            Ok(_) => self.parse(path, source, format),
            Err(error) => {
                self.malformed(Malformed::at(path, &source, error.valid_up_to(), "not UTF-8 text"));
                let text = String::from_utf8_lossy(&source).into_owned();
                match format.read(&text) {
                    Ok(root) => {
                        Loaded::Document(Document { path: path.to_owned(), root, source: text.into_bytes() })
                    }
                    Err(fault) => Loaded::Malformed(format!("no {}: {fault}", format.title())),
                }
            }
        }
    }

    /// A document that stands in an argument or a variable, which `path` names.
    pub fn parse(&mut self, path: &str, source: Vec<u8>, format: Format) -> Loaded {
        match format.read_bytes(&source) {
            Ok(root) => Loaded::Document(Document { path: path.to_owned(), root, source }),
            Err(fault) => {
                let reason = format!("no {}: {fault}", format.title());
                self.malformed(Malformed::at(path, &source, fault.at, reason));
                unusable(&fault, format)
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

    /// What was noted so far of this tool.
    pub fn state(&self, tool: &str) -> Option<State> {
        self.report.tools.iter().find(|noted| noted.tool == tool).map(|noted| noted.state)
    }

    /// Whether the setting that decides on a tool, for any noted so far, is such a one.
    pub fn decided_by(&self, is_one: impl Fn(&Setting) -> bool) -> bool {
        self.report.tools.iter().filter_map(|tool| tool.settings.first()).any(is_one)
    }

    /// Ends.
    pub fn finish(mut self) -> Report {
        if self.listed.get() > MOST_FOLDERS {
            let reason = format!("more than {MOST_FOLDERS} folders: not everything was looked at");
            self.malformed(Malformed::whole("/", reason));
        }
        self.report
    }
}

impl Document {
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

/// A file over our size limit is one that the CLI may well read.
fn unusable(fault: &Unreadable, format: Format) -> Loaded {
    match fault.what {
        Syntax::TooLarge { .. } => Loaded::Unreadable(fault.to_string()),
        Syntax::Wrong(_) | Syntax::Duplicate(_) | Syntax::NotUtf8 => {
            Loaded::Malformed(format!("no {}: {fault}", format.title()))
        }
    }
}

pub(crate) fn join(folder: &str, path: &str) -> String {
    format!("{}/{path}", folder.trim_end_matches('/'))
}
