//! Browsers, and clients of some service.

use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::hosts::{self, UNKNOWN};

use super::super::commands::{joined, line};
use super::aimed;

pub(super) fn browser(name: &str, arguments: &[String]) -> Option<Raw> {
    let whole = joined(arguments);
    let away: Vec<Option<String>> = hosts::outside(&whole).map(|url| url.host()).collect();
    if name == "playwright" && arguments.first().is_some_and(|verb| verb == "install") {
        return Some(Raw::new(Kind::PackageInstall, "playwright install", &line(name, arguments)));
    }
    if away.is_empty() {
        return whole
            .contains(UNKNOWN)
            .then(|| Raw::new(Kind::NetworkCommand, name, &line(name, arguments)).likely());
    }
    Some(aimed(Kind::NetworkCommand, name, arguments, away))
}

pub(super) fn service(name: &str, arguments: &[String]) -> Option<Raw> {
    let verb = arguments.iter().find(|word| !word.starts_with('-')).map(String::as_str).unwrap_or_default();
    let whole = joined(arguments);
    let away = hosts::outside_hosts(&whole);
    if matches!(name, "docker" | "podman" | "buildah") {
        let fetches = matches!(
            verb,
            "pull"
                | "push"
                | "run"
                | "build"
                | "login"
                | "search"
                | "compose"
                | "create"
                | "from"
                | "buildx"
                | "bud"
        );
        return fetches.then(|| {
            Raw::new(Kind::NetworkCommand, format!("{name} {verb}"), &line(name, arguments))
                .hosts(away)
                .likely()
        });
    }
    let quiet = matches!(verb, "configure" | "config" | "list" | "ps" | "info" | "env" | "init");
    (!quiet).then(|| Raw::new(Kind::NetworkCommand, name, &line(name, arguments)).hosts(away).likely())
}
