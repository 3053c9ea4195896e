//! Literals that are more than they look: source or commands, encoded, reversed or over several lines.

use super::super::decode;
use super::super::finding::Level;
use super::{MOST, Scan, run};

impl Scan<'_, '_> {
    /// Literals in disguise, and texts of several lines, which may be source after all.
    pub(super) fn disguised(&mut self) {
        if self.code.len() > (1 << 20) {
            return;
        }
        let is_javascript =
            ["const ", "let ", "=>", "function"].iter().any(|word| self.source.flat.contains(word));
        for literal in self.source.literals.iter().take(MOST) {
            // Backquotes run a command in Perl, Ruby and PHP.
            if literal.backquoted && !is_javascript {
                self.only_commands(&literal.value.clone());
            }
            for hidden in self::disguised(&literal.value) {
                let before = self.shell.found.len();
                run(self.shell, "a decoded text", &hidden);
                self.only_commands(&hidden);
                let mut index = 0;
                self.shell.found.retain(|raw| {
                    index += 1;
                    index <= before || raw.level == Level::Violation
                });
            }
            if literal.broken {
                let before = self.shell.found.len();
                run(self.shell, "", &literal.value);
                let mut index = 0;
                self.shell.found.retain(|raw| {
                    index += 1;
                    index <= before || raw.level == Level::Violation
                });
            }
        }
    }
}

/// What a literal may stand for.
pub(super) fn disguised(literal: &str) -> impl Iterator<Item = String> {
    let plain = literal.trim();
    let long = plain.len() >= 8 && !plain.contains(' ') && plain.is_ascii();
    let decoded = [
        if long { decode::base64(plain) } else { None },
        if long { decode::hex(plain) } else { None },
        if long { decode::base64(&plain.chars().rev().collect::<String>()) } else { None },
    ];
    decoded.into_iter().flatten().filter(|text| text.len() > 3)
}
