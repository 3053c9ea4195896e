//! Commands that a source runs, read as the shell would.

use super::super::finding::{Kind, Level};
use super::super::shell::Output;
use super::{MOST, Scan};

impl Scan<'_, '_> {
    pub(super) fn commands(&mut self, name: &str, inside: &[String], text: &str) {
        match inside {
            [] if text.trim_end_matches(['(', ')']).ends_with(name.trim_end_matches('(')) => {}
            [] => {
                // The command was put together before: any literal may be it.
                for literal in self.source.literals.iter().take(MOST) {
                    if literal.value.contains(char::is_whitespace) {
                        self.only_commands(&literal.value.clone());
                    }
                }
            }
            [script] => {
                self.shell.within("a command", script.len(), |shell| shell.script(script));
            }
            words => {
                let line: usize = words.iter().map(String::len).sum();
                let together = text.contains('[') || text.contains("c(") || text.contains(',');
                if together {
                    self.shell.within("a command", line, |shell| shell.command(words, Output::none()));
                } else {
                    let script = words.concat();
                    self.shell.within("a command", line, |shell| shell.script(&script));
                }
                for word in words.iter().filter(|word| word.contains(' ')) {
                    self.only_commands(word);
                }
            }
        }
    }

    /// Reads a text as a script, without taking every address in it for one that is used.
    pub(super) fn only_commands(&mut self, text: &str) {
        let before = self.shell.found.len();
        self.shell.within("a command", text.len(), |shell| shell.script(text));
        let mut index = 0;
        self.shell.found.retain(|raw| {
            index += 1;
            index <= before || raw.kind != Kind::Url && raw.level == Level::Violation
        });
    }
}
