//! Programs that talk to the network.
//!
//! What a program is to the network stands in [`programs`]; each kind reads its arguments in its own way, so that a
//! command which stays on this machine is no finding.

mod connect;
mod dns;
mod fetch;
mod operands;
mod programs;
mod remote;
mod services;

use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::hosts;

use super::commands::line;
use programs::Role;

pub(super) use programs::{is_program, matching};

/// `None` if the program is none of these; else what it does, perhaps nothing.
pub(super) fn judge(name: &str, arguments: &[String]) -> Option<Vec<Raw>> {
    if name == "openssl" {
        return Some(connect::openssl(arguments));
    }
    let role = programs::role(name)?;
    // `http` and `open` are also words that other programs have.
    if only_informs(arguments) {
        return Some(Vec::new());
    }
    let raw = match role {
        Role::Fetch => fetch::fetch(name, arguments),
        Role::Connect => connect::connect(name, arguments),
        Role::Remote => remote::remote(name, arguments),
        Role::Dns => dns::dns(name, arguments),
        Role::Proxy => Some(Raw::new(Kind::Proxy, name, &line(name, arguments))),
        Role::Browser => services::browser(name, arguments),
        Role::Service => services::service(name, arguments),
    };
    Some(raw.into_iter().collect())
}

/// `--version`, `--help` and nothing to work on.
pub(super) fn only_informs(arguments: &[String]) -> bool {
    let Some(first) = arguments.first() else { return true };
    let informs = |word: &str| {
        matches!(
            word,
            "--version" | "--help" | "-V" | "-h" | "-help" | "--usage" | "--manual" | "version" | "help"
        )
    };
    informs(first) && !arguments.iter().any(|word| word.contains("://") || hosts::looks_like_host(word))
        || arguments.iter().any(|word| word == "--version" || word == "--help")
            && arguments.iter().all(|word| word.starts_with('-'))
}

/// A finding with the hosts that are not this machine; a code host among them makes it one of that kind.
fn aimed(kind: Kind, name: &str, arguments: &[String], aims: Vec<Option<String>>) -> Raw {
    let away = hosts::once(aims.into_iter().flatten().filter(|host| !hosts::is_here(host)));
    let kind = if away.iter().any(|host| hosts::is_code_host(host)) { Kind::CodeHost } else { kind };
    Raw::new(kind, name, &line(name, arguments)).hosts(away)
}
