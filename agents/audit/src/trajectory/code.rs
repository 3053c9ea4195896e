//! What a program's source does, as far as it concerns the network.
//!
//! One reading for all languages: comments go, string literals are told from code and put together where the source
//! puts them together, and then calls are looked for that talk to the network, run commands, or run more source.

use super::decode;
use super::finding::{Kind, Level, Raw, around};
use super::hosts;
use super::shell::{Output, Shell};

mod calls;
mod source;

use calls::{CALLS, Effect};
use source::Source;

/// Literals of one source that are followed.
const MOST: usize = 2000;

/// Reads source that something else carries.
pub(crate) fn run(shell: &mut Shell<'_>, via: &str, code: &str) -> Output {
    shell.within(via, code.len(), |shell| scan(shell, code)).unwrap_or(Output::Unknown)
}

/// Reads source.
pub(crate) fn scan(shell: &mut Shell<'_>, code: &str) -> Output {
    notebook_lines(shell, code);
    let source = Source::read(code);
    let mut scan = Scan { shell, source: &source, code };
    scan.calls();
    scan.imports();
    scan.addresses();
    scan.disguised();
    printed(&source)
}

/// What a source that prints may print: its literals.
fn printed(source: &Source) -> Output {
    let prints = ["print", "cat(", "puts", "echo", "write", "console.log", "say"]
        .iter()
        .any(|word| source.flat.contains(word));
    let text: Vec<&str> = source
        .literals
        .iter()
        .map(|literal| literal.value.as_str())
        .filter(|value| value.len() > 2)
        .collect();
    if prints && !text.is_empty() { Output::Text(text.join("\n")) } else { Output::Unknown }
}

/// Commands that a program in another language names in its literals, as awk's `system("...")`.
pub(crate) fn commands_in(shell: &mut Shell<'_>, code: &str) {
    let source = Source::read(code);
    let mut scan = Scan { shell, source: &source, code };
    scan.calls();
}

/// The calls of `tools.NAME(...)` in JavaScript: the name, the literals, the place.
pub(crate) fn tool_calls(code: &str) -> Vec<(String, Vec<String>, String)> {
    let source = Source::read(code);
    let mut calls = Vec::new();
    for (at, mark) in source.flat.match_indices("tools").take(MOST) {
        let rest = source.flat.get(at + mark.len()..).unwrap_or_default();
        let name = match rest.strip_prefix('.').or_else(|| rest.strip_prefix("?.")) {
            Some(name) => word(name).trim_end_matches(".call").trim_end_matches(".apply"),
            // `tools["web__" + "run"]`
            None => match rest.strip_prefix("[\"").and_then(|rest| rest.split_once('"')) {
                Some((name, _)) => name,
                None => continue,
            },
        };
        if name.is_empty() {
            continue;
        }
        let start = at + mark.len() + rest.find('(').unwrap_or(0);
        let group = source.group(start, "");
        calls.push((name.to_owned(), source.literals_in(group), around(&source.flat, at)));
    }
    // However it is called.
    let hidden = source.literals.iter().find(|literal| literal.value == "web__run");
    if let Some(literal) = hidden.filter(|_| !calls.iter().any(|(name, ..)| name == "web__run")) {
        calls.push((literal.value.clone(), Vec::new(), around(&source.flat, literal.at)));
    }
    calls
}

/// `!command`, `%pip install`, `%%bash` of notebooks.
fn notebook_lines(shell: &mut Shell<'_>, code: &str) {
    let trimmed = code.trim_start();
    if let Some(rest) = trimmed.strip_prefix("%%") {
        let (head, body) = rest.split_once('\n').unwrap_or((rest, ""));
        if ["bash", "sh", "script", "system"].iter().any(|magic| head.starts_with(magic)) {
            shell.within("%%", body.len(), |shell| shell.script(body));
        }
    }
    for text in code.lines().map(str::trim_start) {
        let command = text.strip_prefix('!').or_else(|| {
            text.strip_prefix('%').filter(|rest| {
                ["pip ", "conda ", "sx ", "system ", "mamba ", "uv "]
                    .iter()
                    .any(|magic| rest.starts_with(magic))
            })
        });
        if let Some(command) = command.filter(|command| !command.starts_with('=') && !command.is_empty()) {
            let command = command.trim_start_matches('!');
            let command =
                command.strip_prefix("sx ").or_else(|| command.strip_prefix("system ")).unwrap_or(command);
            shell.within("!", command.len(), |shell| shell.script(command));
        }
    }
}

struct Scan<'s, 'w> {
    shell: &'s mut Shell<'w>,
    source: &'s Source,
    code: &'s str,
}

impl Scan<'_, '_> {
    /// Calls that the table knows.
    fn calls(&mut self) {
        let present = calls::present(&self.source.flat);
        for call in CALLS.iter().filter(|call| present.contains(calls::anchor(call.name))) {
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

    fn network(&mut self, kind: Kind, at: usize, name: &str, inside: &[String]) {
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

    /// Literals that are addresses and nothing else.
    fn whole_addresses(&self) -> impl Iterator<Item = &source::Literal> {
        self.source.literals.iter().filter(|literal| is_whole_address(&literal.value))
    }

    fn commands(&mut self, name: &str, inside: &[String], text: &str) {
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
    fn only_commands(&mut self, text: &str) {
        let before = self.shell.found.len();
        self.shell.within("a command", text.len(), |shell| shell.script(text));
        let mut index = 0;
        self.shell.found.retain(|raw| {
            index += 1;
            index <= before || raw.kind != Kind::Url && raw.level == Level::Violation
        });
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

    /// Modules that are there for the network only, when something of them is used.
    fn imports(&mut self) {
        let present = calls::present(&self.source.flat);
        for (module, spellings) in
            calls::MODULES.iter().filter(|(module, _)| present.contains(calls::anchor(module)))
        {
            let Some((at, names)) = self.imported(module, spellings) else { continue };
            let use_of = names.iter().find_map(|name| self.source.uses(name, at));
            match use_of {
                Some(used) => self.network(Kind::NetworkCode, used, module, &[]),
                None => {
                    let outside =
                        self.whole_addresses().any(|literal| hosts::outside(&literal.value).next().is_some());
                    if outside {
                        self.network(Kind::NetworkCode, at, module, &[]);
                    } else {
                        let raw = Raw::new(
                            Kind::NetworkCode,
                            format!("{module} is loaded"),
                            &around(&self.source.flat, at),
                        );
                        self.shell.report(raw.note());
                    }
                }
            }
        }
    }

    /// Where a module is brought in, and under which names.
    fn imported(&self, module: &str, spellings: &[&str]) -> Option<(usize, Vec<String>)> {
        let flat = &self.source.flat;
        let mut found: Option<(usize, Vec<String>)> = None;
        let mut add = |at: usize, names: Vec<String>| match &mut found {
            Some((_, held)) => held.extend(names),
            None => found = Some((at, names)),
        };
        for at in self.source.code_matches(module).take(50) {
            let line_start = flat.get(..at)?.rfind(['\n', ';']).map_or(0, |end| end + 1);
            let before = flat.get(line_start..at)?.trim_start();
            let after = flat.get(at + module.len()..)?;
            let line = after.split(['\n', ';']).next().unwrap_or_default();
            if before.starts_with("import ") || before == "import " {
                let alias = line.trim_start().strip_prefix("as ").map(|alias| word(alias).to_owned());
                add(at, vec![alias.unwrap_or_else(|| module.to_owned())]);
            } else if before.starts_with("from ") {
                let names = line.split_once("import").map_or("", |(_, names)| names);
                add(
                    at,
                    names
                        .split([',', '(', ')'])
                        .filter_map(|name| name.split_whitespace().last())
                        .map(str::to_owned)
                        .collect(),
                );
            }
        }
        for spelling in spellings {
            if let Some(at) = self.source.any_match(spelling) {
                let line_start = flat.get(..at)?.rfind(['\n', ';']).map_or(0, |end| end + 1);
                let line = flat.get(line_start..at)?;
                let name = line.split_once('=').map(|(name, _)| {
                    name.trim().rsplit(' ').next().unwrap_or_default().trim_matches(['{', '}'])
                });
                add(at, name.filter(|name| !name.is_empty()).map(str::to_owned).into_iter().collect());
            }
        }
        found
    }

    /// Addresses that are given to a function that is not known to take them for text.
    fn addresses(&mut self) {
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
                if !calls::takes_text(&function) && !hosts::is_namespace(&literal.value) {
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

    /// Literals in disguise, and texts of several lines, which may be source after all.
    fn disguised(&mut self) {
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
            for hidden in disguised(&literal.value) {
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
fn disguised(literal: &str) -> impl Iterator<Item = String> {
    let plain = literal.trim();
    let long = plain.len() >= 8 && !plain.contains(' ') && plain.is_ascii();
    let decoded = [
        if long { decode::base64(plain) } else { None },
        if long { decode::hex(plain) } else { None },
        if long { decode::base64(&plain.chars().rev().collect::<String>()) } else { None },
    ];
    decoded.into_iter().flatten().filter(|text| text.len() > 3)
}

fn is_whole_address(text: &str) -> bool {
    let mut urls = hosts::urls(text);
    urls.next().is_some_and(|url| url.at == 0) && !text.contains(char::is_whitespace)
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// A call's name without its parenthesis.
fn clean(name: &str) -> &str {
    name.trim_end_matches(['(', ' ', '`', '"'])
}

#[cfg(test)]
mod tests;
