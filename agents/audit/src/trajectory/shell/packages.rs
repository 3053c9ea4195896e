//! Package managers: what fetches, and what only looks at what is here.

mod local;
mod managers;
mod verbs;

use super::super::finding::{Kind, Raw};
use super::super::hosts;
use super::commands::{joined, line};
use super::network::only_informs;
use managers::is_manager;
use verbs::fetched;

/// `None` if the program is no package manager; else what it fetches, perhaps nothing.
pub(super) fn judge(name: &str, arguments: &[String]) -> Option<Vec<Raw>> {
    let name = match name {
        pip if pip.starts_with("pip")
            && pip.trim_start_matches("pip").chars().all(|c| c.is_ascii_digit() || c == '.') =>
        {
            "pip"
        }
        name => name,
    };
    if !is_manager(name) {
        return None;
    }
    if only_informs(arguments)
        || arguments.iter().any(|word| word == "--help" || word == "-h" && name != "apt-get")
    {
        return Some(Vec::new());
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let plain: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let fetches = fetched(name, &words, &plain);
    let raw = fetches.map(|verb| {
        let whole = joined(arguments);
        let reason = if verb.is_empty() { name.to_owned() } else { format!("{name} {verb}") };
        Raw::new(Kind::PackageInstall, reason, &line(name, arguments)).hosts(hosts::outside_hosts(&whole))
    });
    Some(raw.into_iter().collect())
}
