//! Calls that the table knows, and what each does with its arguments.

use super::super::finding::{Kind, Raw, around};
use super::super::hosts;
use super::calls::{CALLS, Effect};
use super::disguise::disguised;
use super::present::{anchor, present};
use super::{MOST, Scan, clean, run};

impl Scan<'_, '_> {
    /// Calls that the table knows.
    pub(super) fn calls(&mut self) {
        let present = present(&self.source.flat);
        for call in CALLS.iter().filter(|call| present.contains(anchor(call.name))) {
            if !matches!(call.effect, Effect::Command | Effect::Source) && self.source.defines(call.name) {
                continue;
            }
            for at in self.source.code_matches(call.name).take(MOST) {
                self.call(at, call.name, call.effect);
            }
        }
    }

    fn call(&mut self, at: usize, name: &str, effect: Effect) {
        let bare_command = effect == Effect::Command && !name.ends_with('(');
        let rest = self.source.flat.get(at + name.len()..).unwrap_or_default();
        // `system "curl ..."`; the word alone says nothing.
        if bare_command && !rest.trim_start().starts_with(['"', '(', '{', '[', '/']) {
            return;
        }
        let group = self.source.group(at, name);
        let inside = self.source.literals_in(group.clone());
        let text = self.source.flat.get(at..group.end).unwrap_or_default();
        match effect {
            Effect::Network(kind) => self.network(kind, at, name, &inside),
            Effect::Install => {
                let local = text.contains("repos=NULL") || text.contains("repos = NULL");
                if !local {
                    let raw = Raw::new(Kind::PackageInstall, clean(name), &around(&self.source.flat, at));
                    let named = inside.iter().flat_map(|text| hosts::outside_hosts(text));
                    self.shell.report(raw.hosts(hosts::once(named)));
                }
            }
            Effect::Reader => {
                let address = inside.first().is_some_and(|text| hosts::outside(text).next().is_some());
                // `u = "https://..."; read_csv(u)`
                let by_name = inside.is_empty() && self.whole_addresses().next().is_some();
                if address || by_name {
                    self.network(Kind::NetworkCode, at, name, &inside);
                }
            }
            Effect::Command => self.commands(name, &inside, text),
            Effect::Source => self.more_source(at, name, &inside, text),
        }
    }

    pub(super) fn network(&mut self, kind: Kind, at: usize, name: &str, inside: &[String]) {
        let mut named: Vec<String> = inside
            .iter()
            .flat_map(|text| match hosts::urls(text).next() {
                Some(_) => hosts::urls(text).filter_map(|url| url.host()).collect(),
                None if hosts::looks_like_host(text) => hosts::bare(text).into_iter().collect(),
                None => Vec::new(),
            })
            .collect();
        if named.is_empty() {
            let literals = self.source.literals.iter();
            named = literals
                .flat_map(|literal| {
                    hosts::urls(&literal.value).filter_map(|url| url.host()).collect::<Vec<_>>()
                })
                .collect();
            if named.is_empty() {
                named = self
                    .source
                    .literals
                    .iter()
                    .filter(|l| l.value == "localhost" || l.value.parse::<std::net::IpAddr>().is_ok())
                    .map(|l| l.value.clone())
                    .collect();
            }
        }
        let away: Vec<String> = hosts::once(named.iter().filter(|host| !hosts::is_here(host)).cloned());
        if away.is_empty() && !named.is_empty() {
            return;
        }
        let raw = Raw::new(kind, clean(name), &around(&self.source.flat, at));
        let raw = if away.is_empty() { raw.likely() } else { raw };
        self.shell.report(raw.hosts(away));
    }

    fn more_source(&mut self, at: usize, name: &str, inside: &[String], text: &str) {
        for literal in inside.iter().take(50) {
            if literal.len() > 3 {
                run(self.shell, clean(name), literal);
            }
            for hidden in disguised(literal) {
                run(self.shell, clean(name), &hidden);
            }
        }
        const DECODERS: &[&str] = &[
            "b64decode",
            "decompress",
            "codecs.decode",
            "marshal.loads",
            "unhexlify",
            "fromhex",
            "atob(",
            "base64_decode",
            "decode64",
        ];
        if DECODERS.iter().any(|decoder| text.contains(decoder))
            && inside.iter().all(|literal| disguised(literal).next().is_none())
        {
            let raw = Raw::new(
                Kind::Opaque,
                format!("decoded text is run by `{}`", clean(name)),
                &around(&self.source.flat, at),
            );
            self.shell.report(raw.likely());
        }
    }
}
