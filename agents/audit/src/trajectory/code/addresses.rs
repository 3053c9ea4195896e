//! Addresses among a source's literals, and what they are given to.

use super::super::finding::{Kind, Level, Raw, around};
use super::super::hosts;
use super::source::Literal;
use super::takes_text::takes_text;
use super::{MOST, Scan};

impl Scan<'_, '_> {
    /// Addresses that are given to a function that is not known to take them for text.
    pub(super) fn addresses(&mut self) {
        let mut text_only: Option<(usize, Vec<String>)> = None;
        for literal in self.source.literals.iter().take(MOST) {
            let outside = hosts::outside_hosts(&literal.value);
            if hosts::outside(&literal.value).next().is_none() {
                continue;
            }
            if is_whole_address(&literal.value)
                && let Some(function) = self.source.function_around(literal.at)
            {
                // Often the call itself was recognised above.
                let known = self.shell.found.iter().any(|raw| {
                    raw.level == Level::Violation && outside.iter().all(|host| raw.hosts.contains(host))
                });
                if known {
                    continue;
                }
                if !takes_text(&function) && !hosts::is_namespace(&literal.value) {
                    let raw = Raw::new(
                        Kind::NetworkCode,
                        format!("an address is given to `{function}`"),
                        &around(&self.source.flat, literal.at),
                    );
                    self.shell.report(raw.hosts(outside).likely());
                    continue;
                }
            }
            text_only.get_or_insert((literal.at, Vec::new())).1.extend(outside);
        }
        if let Some((at, named)) = text_only {
            let raw = Raw::new(Kind::Url, "an address that is only text", &around(&self.source.flat, at));
            self.shell.report(raw.hosts(hosts::once(named.into_iter())).text_only());
        }
    }

    /// Literals that are addresses and nothing else.
    pub(super) fn whole_addresses(&self) -> impl Iterator<Item = &Literal> {
        self.source.literals.iter().filter(|literal| is_whole_address(&literal.value))
    }
}

fn is_whole_address(text: &str) -> bool {
    let mut urls = hosts::urls(text);
    urls.next().is_some_and(|url| url.at == 0) && !text.contains(char::is_whitespace)
}
