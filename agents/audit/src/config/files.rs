//! The files that an agent would see.

use std::collections::BTreeMap;

/// The file system that the agent's program sees: a container's, or a folder that stands for one. Paths are absolute
/// there, and symbolic links lead to where they lead there; no path leads out.
pub trait Files {
    /// What stands at this path.
    fn read(&self, path: &str) -> Content;

    /// The names in a folder, sorted; nothing if there is none.
    fn list(&self, folder: &str) -> Vec<String>;

    /// Whether root alone can write this file and every folder above it; `None` where owners and modes are not known.
    fn is_protected(&self, _path: &str) -> Option<bool> {
        None
    }
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Absent,
    /// A file with these bytes.
    Bytes(Vec<u8>),
    /// Something that can't be read, and why: what it says is unknown.
    Unreadable(String),
}

/// A file system in memory.
#[derive(Debug, Default, Clone)]
pub struct MemoryFiles(BTreeMap<String, Content>);

impl MemoryFiles {
    /// With one more file.
    pub fn with(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.to_owned(), Content::Bytes(bytes.into()));
        self
    }

    /// With something at this path that can't be read.
    pub fn unreadable(mut self, path: &str, why: &str) -> Self {
        self.0.insert(path.to_owned(), Content::Unreadable(why.to_owned()));
        self
    }
}

impl Files for MemoryFiles {
    fn read(&self, path: &str) -> Content {
        self.0.get(path).cloned().unwrap_or(Content::Absent)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let mut names: Vec<String> = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(&prefix)?.split('/').next().map(str::to_owned))
            .collect();
        names.dedup();
        names
    }
}
