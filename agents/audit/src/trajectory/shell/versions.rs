//! Version control and forges.

use super::super::finding::{Kind, Raw};
use super::super::hosts::{self, UNKNOWN};
use super::commands::{joined, line};
use super::network::only_informs;

/// `None` if the program is none of these; else what it does on the network, perhaps nothing.
pub(super) fn judge(name: &str, arguments: &[String]) -> Option<Vec<Raw>> {
    match name {
        "git" => Some(git(arguments)),
        "gh" | "glab" | "hub" | "tea" | "lab" | "bb" => Some(forge(name, arguments)),
        "svn" | "hg" | "bzr" | "cvs" | "fossil" | "darcs" | "jj" | "git-lfs" | "repo" | "dvc"
        | "git-annex" | "degit" | "ghq" | "svnrdump" => Some(other(name, arguments)),
        "git-clone" | "git-fetch" | "git-pull" | "git-ls-remote" | "git-remote-https" | "git-remote-http" => {
            Some(vec![found(name, arguments)])
        }
        _ => None,
    }
}

fn found(reason: &str, arguments: &[String]) -> Raw {
    let whole = joined(arguments);
    let mut named: Vec<String> = hosts::outside_hosts(&whole);
    // `git@host:path`
    named.extend(
        arguments
            .iter()
            .filter(|word| word.contains('@') && word.contains(':') && !word.contains("://"))
            .filter_map(|word| hosts::bare(word)),
    );
    let program = reason.split(' ').next().unwrap_or(reason);
    Raw::new(Kind::CodeHost, reason, &line(program, arguments)).hosts(hosts::once(named.into_iter()))
}

fn git(arguments: &[String]) -> Vec<Raw> {
    if only_informs(arguments) {
        return Vec::new();
    }
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        if !word.starts_with('-') {
            break;
        }
        rest = if matches!(
            word.as_str(),
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path"
        ) {
            after.get(1..).unwrap_or_default()
        } else {
            after
        };
    }
    let Some((verb, operands)) = rest.split_first() else { return Vec::new() };
    let plain = plain(operands);
    let second = plain.first().map(|word| word.as_str()).unwrap_or_default();
    if operands.iter().any(|word| word == "--help" || word == "-h") {
        return Vec::new();
    }
    let fetches = match verb.as_str() {
        "clone" => match plain.first() {
            Some(from) => !is_local(from),
            None => false,
        },
        "fetch" | "pull" | "push" | "ls-remote" => {
            !(plain.first().is_some_and(|from| is_local(from) && looks_like_path(from)))
        }
        "fetch-pack" | "send-pack" | "http-fetch" | "remote-https" | "remote-http" | "upload-archive"
        | "request-pull" | "imap-send" | "send-email" | "svn" | "p4" => true,
        "submodule" => matches!(second, "update" | "add" | "sync") && second != "sync",
        "remote" => {
            if matches!(second, "update" | "show" | "prune") {
                !(second == "show" && (plain.len() < 2 || operands.iter().any(|word| word == "-n")))
            } else {
                return set_remote(second, arguments);
            }
        }
        "lfs" => matches!(second, "pull" | "fetch" | "push" | "clone"),
        "archive" => operands.iter().any(|word| word.starts_with("--remote")),
        "maintenance" => operands.iter().any(|word| word.contains("prefetch")),
        _ => {
            let whole = joined(arguments);
            if hosts::outside(&whole).next().is_some() {
                let raw = Raw::new(Kind::Url, "an address that is only text", &line("git", arguments));
                return vec![raw.hosts(hosts::outside_hosts(&whole)).text_only()];
            }
            return Vec::new();
        }
    };
    if !fetches {
        return Vec::new();
    }
    let raw = found(&format!("git {verb}"), arguments);
    // Without an address the remote stands in the repository's own configuration.
    let raw = if raw.hosts.is_empty() { raw.likely() } else { raw };
    vec![raw]
}

/// The words that are no option and no option's value.
fn plain(operands: &[String]) -> Vec<&String> {
    const WITH_VALUE: &[&str] = &[
        "--depth",
        "--deepen",
        "-b",
        "--branch",
        "--reference",
        "-o",
        "--origin",
        "-c",
        "--config",
        "-j",
        "--jobs",
        "--filter",
        "--template",
        "-u",
        "--upload-pack",
        "--shallow-since",
        "--shallow-exclude",
        "--separate-git-dir",
        "-t",
        "-m",
        "--refmap",
        "--server-option",
        "--negotiation-tip",
        "-s",
        "-X",
        "--strategy",
        "--bundle-uri",
        "--receive-pack",
        "--exec",
        "--repo",
        "--push-option",
    ];
    let mut plain = Vec::new();
    let mut rest = operands.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            plain.push(word);
        } else if WITH_VALUE.contains(&word.as_str()) {
            rest.next();
        }
    }
    plain
}

/// `git remote add NAME URL` talks to no one yet.
fn set_remote(verb: &str, arguments: &[String]) -> Vec<Raw> {
    if !matches!(verb, "add" | "set-url") {
        return Vec::new();
    }
    let raw = found(&format!("git remote {verb}"), arguments);
    if arguments.iter().any(|word| word == "-f" || word == "--fetch") {
        return vec![raw];
    }
    let local = arguments.last().is_some_and(|word| is_local(word));
    if local { Vec::new() } else { vec![raw.note()] }
}

fn looks_like_path(word: &str) -> bool {
    word.starts_with(['.', '/', '~']) || word.starts_with("file://")
}

fn is_local(word: &str) -> bool {
    if word.contains(UNKNOWN) {
        return false;
    }
    if word.starts_with("file://") || looks_like_path(word) {
        return true;
    }
    if word.contains("://") {
        return hosts::urls(word).next().is_some_and(|url| url.is_here());
    }
    // `host:path` is a remote, `folder/repo` and `repo.bundle` are none.
    match word.split_once(':') {
        Some((host, _)) => {
            host.contains('/') || host.rsplit_once('@').map_or(host, |(_, host)| host) == "localhost"
        }
        None => true,
    }
}

fn forge(name: &str, arguments: &[String]) -> Vec<Raw> {
    let verb = arguments.iter().find(|word| !word.starts_with('-')).map(String::as_str).unwrap_or_default();
    if only_informs(arguments) || matches!(verb, "config" | "alias" | "completion" | "help" | "version") {
        return Vec::new();
    }
    let whole = joined(arguments);
    let mut named = hosts::outside_hosts(&whole);
    if named.is_empty() && matches!(name, "gh" | "hub") {
        named.push(if verb == "api" { "api.github.com".into() } else { "github.com".into() });
    }
    vec![Raw::new(Kind::CodeHost, format!("{name} {verb}"), &line(name, arguments)).hosts(named)]
}

fn other(name: &str, arguments: &[String]) -> Vec<Raw> {
    if only_informs(arguments) {
        return Vec::new();
    }
    let verb = arguments.iter().find(|word| !word.starts_with('-')).map(String::as_str).unwrap_or_default();
    let whole = joined(arguments);
    let fetches = hosts::outside(&whole).next().is_some()
        || matches!(verb, "pull" | "push" | "fetch" | "update" | "incoming" | "outgoing" | "sync" | "up")
            && name != "darcs"
        || matches!(name, "degit" | "ghq" | "svnrdump");
    if fetches { vec![found(&format!("{name} {verb}"), arguments)] } else { Vec::new() }
}
