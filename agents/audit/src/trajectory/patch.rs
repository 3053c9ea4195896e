//! Files that a tool writes: by path and content, or as a patch.

use super::json::Json;
use super::shell::Files;

const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "filename",
    "file",
    "absolute_path",
    "notebook_path",
    "target_file",
    "TargetFile",
    "file_name",
];

const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "new_string",
    "newString",
    "new_str",
    "file_text",
    "text",
    "new_source",
    "insert_text",
    "code",
    "code_edit",
    "newText",
    "new_text",
    "data",
    "replacement",
];

/// Remembers what a writing tool writes.
pub(crate) fn from_arguments(files: &mut Files, arguments: &Json<'_>) {
    if let Some(text) = arguments.as_text() {
        return apply(files, text);
    }
    let path = arguments.first_text(PATHS).unwrap_or_default();
    for (key, value) in arguments.fields() {
        match value {
            Json::Text(text) if text.contains("*** Begin Patch") || text.contains("*** Add File:") => {
                apply(files, text)
            }
            Json::Text(text) if text.starts_with("--- ") || text.starts_with("diff --git") => {
                apply(files, text)
            }
            Json::Text(text) if CONTENTS.contains(&key.as_ref()) => files.add(path, text),
            // `edits: [{old_string, new_string}]`
            Json::List(items) => {
                for item in items.iter().filter(|item| item.is_table()) {
                    let inner = item.first_text(PATHS).unwrap_or(path).to_owned();
                    if let Some(text) = item.first_text(CONTENTS) {
                        files.add(&inner, text);
                    }
                }
            }
            // Codex: `changes: {path: {add: {content}}}`
            Json::Table(changes) if key == "changes" => {
                for (path, change) in changes {
                    for (_, change) in change.fields() {
                        if let Some(text) = change.first_text(&["content", "unified_diff"]) {
                            files.add(path, &added(text));
                        }
                    }
                    if let Some(text) = change.first_text(&["content", "unified_diff"]) {
                        files.add(path, &added(text));
                    }
                }
            }
            _ => {}
        }
    }
}

/// A diff's added lines; a text that is no diff as it is.
fn added(text: &str) -> String {
    if !text.starts_with("@@") && !text.contains("\n@@") {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix('+')).collect();
    lines.join("\n")
}

/// Remembers the lines that a patch adds, each to its file.
pub(crate) fn apply(files: &mut Files, patch: &str) {
    let mut path = String::new();
    let mut text = String::new();
    for line in patch.lines() {
        let named = ["*** Add File: ", "*** Update File: ", "*** Move to: ", "+++ b/", "+++ "]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        if let Some(named) = named {
            files.add(&path, &text);
            text.clear();
            path = named.split('\t').next().unwrap_or(named).trim().to_owned();
        } else if let Some(line) = line.strip_prefix('+') {
            text.push_str(line);
            text.push('\n');
        }
    }
    files.add(&path, &text);
}
