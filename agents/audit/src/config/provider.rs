//! Where models are asked.

use super::{Bringer, Kind, Origin, Scene, State};

/// Notes an address of a model API, unless its host is one of the row's own.
pub(crate) fn note(scene: &mut Scene<'_>, url: &str, own: &[&str], origin: Origin) {
    let host = host(url);
    if own.contains(&host.as_str()) {
        return;
    }
    let why = format!("models are asked at {host}, and what tools stand behind it is not known here");
    scene.brings(Bringer { kind: Kind::Provider, name: host, origin, state: State::Unknown, why });
}

/// The host of an address, in lower case; all of it where none can be told.
pub(crate) fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') && port.bytes().all(|digit| digit.is_ascii_digit()) => {
            host
        }
        _ => host,
    };
    host.trim().trim_end_matches('.').to_lowercase()
}
