//! What Docker, Podman and compose files spell the same way.

use crate::container::facts::{At, Flag, Namespace, Network, Spot, Unconfined, User};

/// A namespace's mode. `None` and the empty text are the engine's default.
pub(super) fn namespace(mode: Option<At<String>>, missing: Spot) -> At<Namespace> {
    let Some(mode) = mode else { return At::new(Namespace::Own, missing) };
    let text = mode.value.trim();
    let namespace = match text.split_once(':') {
        Some(("container" | "service", name)) if !name.is_empty() => Namespace::Of(name.to_owned()),
        Some(("ns", path)) => Namespace::Of(path.to_owned()),
        Some(("keep-id" | "auto" | "nomap", _)) => Namespace::Own,
        _ => match text {
            "" | "private" | "default" | "shareable" | "none" | "auto" | "keep-id" | "nomap" => {
                Namespace::Own
            }
            "host" => Namespace::Host,
            other => Namespace::Unknown(other.to_owned()),
        },
    };
    At::new(namespace, mode.spot)
}

/// A network mode that says all by itself; `None` for the name of a network.
pub(super) fn network(mode: &str) -> Option<Network> {
    let own = || Some(Network::Own(mode.to_owned()));
    match mode.split_once(':') {
        Some(("container" | "service", name)) if !name.is_empty() => {
            return Some(Network::Of(name.to_owned()));
        }
        Some(("ns", path)) if !path.is_empty() => return Some(Network::Of(path.to_owned())),
        Some(("slirp4netns" | "pasta" | "bridge", _)) => return own(),
        _ => {}
    }
    match mode {
        "none" => Some(Network::None),
        "host" => Some(Network::Host),
        "" | "default" | "bridge" | "nat" | "slirp4netns" | "pasta" | "private" => own(),
        _ => None,
    }
}

/// What `security_opt` says: what it takes away, and whether new privileges are refused.
pub(super) fn security(options: &[At<String>], missing: Spot) -> (Vec<At<Unconfined>>, At<Flag>) {
    let mut unconfined = Vec::new();
    let mut no_new_privileges = At::new(Flag::Unset, missing);
    for option in options {
        // Old spellings have a colon.
        let text = option.value.trim();
        let (key, value) = text.split_once(['=', ':']).unwrap_or((text, ""));
        let found = match (key, value) {
            ("no-new-privileges", "" | "true") => {
                no_new_privileges = At::new(Flag::On, option.spot.clone());
                None
            }
            ("no-new-privileges", "false") => {
                no_new_privileges = At::new(Flag::Off, option.spot.clone());
                None
            }
            ("seccomp", "unconfined") => Some(Unconfined::Seccomp),
            ("apparmor", "unconfined") => Some(Unconfined::AppArmor),
            ("label", "disable") => Some(Unconfined::Label),
            ("systempaths", "unconfined") | ("unmask", _) => Some(Unconfined::SystemPaths),
            ("seccomp", "builtin" | "") | ("label" | "mask" | "proc-opts", _) => None,
            // A profile by name or path, or as a text: another one, and nobody knows which.
            ("seccomp" | "apparmor", profile) if is_default(profile) => None,
            _ => Some(Unconfined::Unknown(shortened(text))),
        };
        unconfined.extend(found.map(|found| At::new(found, option.spot.clone())));
    }
    (unconfined, no_new_privileges)
}

fn is_default(profile: &str) -> bool {
    matches!(profile, "docker-default" | "runtime/default" | "containers-default")
        || profile.starts_with("containers-default-")
}

/// A profile may stand there as a whole.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// `UID`, `UID:GID`, `NAME`; nothing is root.
pub(super) fn user(user: Option<At<String>>, missing: Spot) -> At<User> {
    let Some(user) = user else { return At::new(User::Root, missing) };
    let name = user.value.split(':').next().unwrap_or_default().trim();
    let found = match name.parse::<u64>() {
        Ok(0) => User::Root,
        Ok(_) => User::Number,
        Err(_) if name.is_empty() || name == "root" => User::Root,
        Err(_) => User::Name(name.to_owned()),
    };
    At::new(found, user.spot)
}
