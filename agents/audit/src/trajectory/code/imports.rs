//! Modules that a source brings in, and whether it uses them.

use super::super::finding::{Kind, Raw, around};
use super::super::hosts;
use super::modules::MODULES;
use super::present::{anchor, present};
use super::{Scan, word};

impl Scan<'_, '_> {
    /// Modules that are there for the network only, when something of them is used.
    pub(super) fn imports(&mut self) {
        let present = present(&self.source.flat);
        for (module, spellings) in MODULES.iter().filter(|(module, _)| present.contains(anchor(module))) {
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
}
