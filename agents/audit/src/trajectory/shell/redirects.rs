//! What a command reads from and writes to, `/dev/tcp` among it.

use super::super::finding::{Kind, Raw};
use super::super::hosts::{self, UNKNOWN};
use super::lex::{Redirect, Word};
use super::{Output, Shell};

impl Shell<'_> {
    /// What a command reads.
    pub(super) fn redirect_input(&mut self, redirects: &[Redirect], mut input: Output) -> Output {
        for redirect in redirects {
            match redirect {
                Redirect::Text(word) => input = self.output_of(word),
                Redirect::From(word) => {
                    let path = self.expand(word).join(" ");
                    self.dev_tcp(&path);
                    input = match self.world.files.content(&path) {
                        Some(text) => Output::Text(text),
                        None => self.world.files.unreadable(&path).unwrap_or(Output::Unknown),
                    };
                }
                Redirect::To(_) => {}
            }
        }
        input
    }

    fn output_of(&mut self, word: &Word) -> Output {
        let text = self.expand_whole(word);
        if text.contains(UNKNOWN) && text.chars().all(|c| c == UNKNOWN || c.is_whitespace()) {
            return Output::Unknown;
        }
        Output::Text(text)
    }

    /// What a command writes, and where to.
    pub(super) fn redirect_output(&mut self, redirects: &[Redirect], mut output: Output) -> Output {
        for redirect in redirects {
            if let Redirect::To(word) = redirect {
                let path = self.expand(word).join(" ");
                self.dev_tcp(&path);
                let out = std::mem::replace(&mut output, Output::none());
                if !path.starts_with("/dev/") {
                    self.world.files.write(&path, out);
                }
            }
        }
        output
    }

    fn dev_tcp(&mut self, path: &str) {
        if let Some(raw) = self::dev_tcp(path) {
            self.report(raw);
        }
    }
}

/// `/dev/tcp/HOST/PORT`
pub(super) fn dev_tcp(path: &str) -> Option<Raw> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    let host = hosts::bare(rest);
    if host.as_deref().is_some_and(hosts::is_here) {
        return None;
    }
    Some(Raw::new(Kind::DevTcp, "the shell's own socket", path).hosts(host.into_iter().collect()))
}
