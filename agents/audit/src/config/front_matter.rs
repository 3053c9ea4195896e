//! The YAML between `---` lines that agents', skills' and commands' Markdown files begin with.

use closedbook_document::{Format, Node, Unreadable};

use super::Document;
use crate::Malformed;

/// The head of a Markdown file.
pub(crate) struct FrontMatter {
    /// The file up to the head's end, the first line replaced by a blank one: places in it are those of the file.
    text: String,
}

/// A head that is no YAML.
pub(crate) struct NotYaml {
    text: String,
    fault: Unreadable,
}

/// The head of a file, if it has one.
pub(crate) fn front_matter(bytes: &[u8]) -> Option<FrontMatter> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let rest = text.strip_prefix("---")?;
    let first_line_end = rest.find('\n')?;
    if !rest.get(..first_line_end)?.trim().is_empty() {
        return None;
    }
    let head = rest.get(first_line_end..)?;
    let mut end = head.len();
    let mut at = 0;
    for line in head.split_inclusive('\n') {
        if line.trim_end() == "---" {
            end = at;
            break;
        }
        at += line.len();
    }
    Some(FrontMatter { text: format!("   {}{}", rest.get(..first_line_end)?, head.get(..end)?) })
}

impl FrontMatter {
    pub(crate) fn read(&self) -> Result<Node, NotYaml> {
        Format::Yaml.read(&self.text).map_err(|fault| NotYaml { text: self.text.clone(), fault })
    }

    pub(crate) fn document(&self, path: &str, root: Node) -> Document {
        Document::new(path, root, self.text.clone().into_bytes())
    }
}

impl NotYaml {
    pub(crate) fn named(&self, path: &str) -> Malformed {
        let reason = format!("its front matter is no YAML: {}", self.fault);
        Malformed::at(path, self.text.as_bytes(), self.fault.at, reason)
    }
}
