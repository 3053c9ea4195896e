//! How each engine is told what would be right.

use super::facts::Engine;

/// What should be told.
#[derive(Debug, Clone, Copy)]
pub(super) enum Setting<'a> {
    /// Not to hold a capability that is there by default.
    Drop(&'a str),
    /// Not to hold one that was asked for.
    NotAdded(&'a str),
    Unprivileged,
    /// To share this sidecar's network.
    Join(&'a str),
    /// A namespace of its own: `pid`, `ipc`, ...
    Own(&'a str),
    NoNewPrivileges,
    ReadOnlyRoot,
    NotRoot,
    Confined,
}

impl Engine {
    /// The setting in the engine's own words.
    pub(super) fn say(self, setting: Setting<'_>) -> String {
        match self {
            Engine::Docker | Engine::Podman => flag(setting),
            Engine::Compose => compose(setting),
            Engine::Kubernetes => kubernetes(setting),
            Engine::Oci => oci(setting),
        }
    }
}

fn flag(setting: Setting<'_>) -> String {
    match setting {
        Setting::Drop("ALL") => "--cap-drop ALL, and --cap-add for what it needs".into(),
        Setting::Drop(name) => format!("--cap-drop {name}, or --cap-drop ALL"),
        Setting::NotAdded(name) => format!("leave --cap-add {name} out"),
        Setting::Unprivileged => "leave --privileged out".into(),
        Setting::Join(name) => format!("--network container:{name}"),
        Setting::Own(kind) => format!("leave --{kind} out"),
        Setting::NoNewPrivileges => "--security-opt no-new-privileges".into(),
        Setting::ReadOnlyRoot => "--read-only, with --tmpfs for what must be written".into(),
        Setting::NotRoot => "--user with a number that is not 0".into(),
        Setting::Confined => "leave this --security-opt out".into(),
    }
}

fn compose(setting: Setting<'_>) -> String {
    match setting {
        Setting::Drop("ALL") => "cap_drop: [ALL], and cap_add for what it needs".into(),
        Setting::Drop(name) => format!("cap_drop: [{name}], or cap_drop: [ALL]"),
        Setting::NotAdded(name) => format!("take {name} out of cap_add"),
        Setting::Unprivileged => "privileged: false".into(),
        Setting::Join(name) => format!("network_mode: \"service:{name}\", and no networks"),
        Setting::Own(kind) => format!("leave `{kind}` out"),
        Setting::NoNewPrivileges => "security_opt: [\"no-new-privileges\"]".into(),
        Setting::ReadOnlyRoot => "read_only: true, with tmpfs for what must be written".into(),
        Setting::NotRoot => "user: with a number that is not 0".into(),
        Setting::Confined => "take it out of security_opt".into(),
    }
}

fn kubernetes(setting: Setting<'_>) -> String {
    match setting {
        Setting::Drop(_) => "securityContext.capabilities.drop: [\"ALL\"]".into(),
        Setting::NotAdded(name) => format!("take {name} out of capabilities.add, and drop [\"ALL\"]"),
        Setting::Unprivileged => "securityContext.privileged: false".into(),
        Setting::Join(name) => format!("put the container into the pod of {name}"),
        Setting::Own(kind) => format!("leave {kind} out"),
        Setting::NoNewPrivileges => "securityContext.allowPrivilegeEscalation: false".into(),
        Setting::ReadOnlyRoot => "securityContext.readOnlyRootFilesystem: true".into(),
        Setting::NotRoot => "securityContext.runAsUser: with a number that is not 0".into(),
        Setting::Confined => {
            "securityContext.seccompProfile: {type: RuntimeDefault}, and nothing unconfined".into()
        }
    }
}

fn oci(setting: Setting<'_>) -> String {
    match setting {
        Setting::Drop(name) | Setting::NotAdded(name) => {
            format!("take CAP_{name} out of every set of process.capabilities")
        }
        Setting::Unprivileged => "give the container a configuration of its own".into(),
        Setting::Join(name) => format!("a namespace of type network with the path of {name}"),
        Setting::Own(kind) => format!("list a namespace of type {kind} without a path"),
        Setting::NoNewPrivileges => "process.noNewPrivileges: true".into(),
        Setting::ReadOnlyRoot => "root.readonly: true".into(),
        Setting::NotRoot => "process.user.uid: a number that is not 0".into(),
        Setting::Confined => {
            "set linux.seccomp, linux.maskedPaths and linux.readonlyPaths as engines do".into()
        }
    }
}
