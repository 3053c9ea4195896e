//! Versions of CLIs.

use std::fmt;

use serde::Serialize;

/// The version of a CLI: compared whole, never as a range, since a switch that one version obeys another may not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Version(String);

impl Version {
    /// A version begins with a digit and holds digits, letters, dots, dashes and plus signs.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let is_version = text.starts_with(|c: char| c.is_ascii_digit())
            && text.contains('.')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))
            && !text.ends_with(['.', '-', '+']);
        is_version.then(|| Self(text.to_owned()))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The versions that a program's `--version` names: `2.1.295 (Claude Code)`, `codex-cli 0.162.0`, `opencode/1.18.33`.
pub fn versions_in(output: &str) -> Vec<Version> {
    let mut found = Vec::new();
    for word in output
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '/' | ',' | ';' | '@' | '"' | ':'))
    {
        match Version::parse(word.trim_end_matches('.')) {
            Some(version) if !found.contains(&version) => found.push(version),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_programs_print_them() {
        for (output, expected) in [
            ("2.1.295 (Claude Code)\n", "2.1.295"),
            ("codex-cli 0.162.0", "0.162.0"),
            ("opencode/1.18.33", "1.18.33"),
            ("grok 1.0.41 (19d42e3)", "1.0.41"),
            ("v0.61.0", "0.61.0"),
            ("aider 0.86.2.", "0.86.2"),
            ("GitHub Copilot CLI 1.0.102\nRun 'copilot update'.", "1.0.102"),
            ("0.0.1790142911-gabc", "0.0.1790142911-gabc"),
        ] {
            let found: Vec<String> = versions_in(output).iter().map(Version::to_string).collect();
            assert_eq!(found, [expected], "{output:?}");
        }
        assert!(versions_in("no version here. 12 files\u{0}").is_empty());
    }

    /// G15: a version is never nearly right.
    #[test]
    fn versions_are_compared_whole() {
        assert_ne!(Version::parse("2.1.29"), Version::parse("2.1.295"));
        assert_ne!(Version::parse("2.1.295-beta"), Version::parse("2.1.295"));
        for text in ["", "latest", "1", "1.", "stable", "^1.2", "1.2 3", "1.2\u{1b}"] {
            assert_eq!(Version::parse(text), None, "{text:?}");
        }
    }
}
