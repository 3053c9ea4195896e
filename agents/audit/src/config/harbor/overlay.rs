//! Files laid over other files.

use super::Written;
use crate::config::scene::join;
use crate::config::{Content, Files};

/// A file system with what Harbor writes on top.
pub struct Overlay<'a> {
    under: &'a dyn Files,
    files: Vec<(String, Content)>,
    copies: Vec<(String, String)>,
}

impl<'a> Overlay<'a> {
    /// Lays what is written over files; `home` is the agent's.
    pub fn new(under: &'a dyn Files, written: &[Written], home: &str) -> Self {
        let place = |path: &str| match path.strip_prefix("~/") {
            Some(rest) => join(home, rest),
            None => path.to_owned(),
        };
        let mut overlay = Self { under, files: Vec::new(), copies: Vec::new() };
        for written in written {
            match written {
                Written::File(path, bytes) => {
                    overlay.files.push((place(path), Content::Bytes(bytes.clone())));
                }
                Written::Unknown(path, why) => {
                    overlay.files.push((place(path), Content::Unreadable(why.clone())));
                }
                Written::Copied(to, from) => overlay.copies.push((place(to), place(from))),
            }
        }
        overlay
    }

    /// Where a path of a copied folder comes from.
    fn source(&self, path: &str) -> Option<String> {
        self.copies.iter().find_map(|(to, from)| {
            let rest = path.strip_prefix(to.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{from}{rest}"))
        })
    }
}

impl Files for Overlay<'_> {
    fn read(&self, path: &str) -> Content {
        if let Some((_, content)) = self.files.iter().rev().find(|(written, _)| written == path) {
            return content.clone();
        }
        match self.source(path).map(|source| self.under.read(&source)) {
            Some(Content::Absent) | None => self.under.read(path),
            Some(content) => content,
        }
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let mut names = self.under.list(folder);
        names.extend(
            self.source(folder.trim_end_matches('/'))
                .map(|source| self.under.list(&source))
                .unwrap_or_default(),
        );
        let written = self.files.iter().filter_map(|(path, _)| path.strip_prefix(&prefix)?.split('/').next());
        names.extend(written.map(str::to_owned));
        let copied = self.copies.iter().filter_map(|(to, from)| {
            let name = to.strip_prefix(&prefix)?.split('/').next()?;
            (!self.under.list(from).is_empty()).then(|| name.to_owned())
        });
        names.extend(copied);
        names.sort();
        names.dedup();
        names
    }

    fn is_protected(&self, path: &str) -> Option<bool> {
        self.under.is_protected(path)
    }
}
