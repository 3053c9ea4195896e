//! Which kind of input it is.

use closedbook_document::Node;
use serde::Serialize;

/// What engines and orchestrators are told, or tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `docker inspect`
    Docker,
    /// `podman inspect`
    Podman,
    /// A compose file, or what `docker compose config` prints.
    Compose,
    /// `config.json` of an OCI bundle.
    Oci,
    /// A pod, or what makes pods.
    Kubernetes,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] =
        [Format::Docker, Format::Podman, Format::Compose, Format::Oci, Format::Kubernetes];

    /// The word that a flag takes.
    pub fn word(self) -> &'static str {
        match self {
            Format::Docker => "docker",
            Format::Podman => "podman",
            Format::Compose => "compose",
            Format::Oci => "oci",
            Format::Kubernetes => "kubernetes",
        }
    }

    /// By what only that kind has.
    pub(super) fn of(root: &Node) -> Option<Self> {
        let has = |key: &str| root.get(key).is_some();
        if let Some(first) = root.items().first() {
            return Self::of(first).filter(|format| matches!(format, Format::Docker | Format::Podman));
        }
        if has("ociVersion") || root.at_path(&["info", "runtimeSpec"]).is_some() {
            return Some(Format::Oci);
        }
        if has("apiVersion") && has("kind") {
            return Some(Format::Kubernetes);
        }
        let is_podman =
            ["BoundingCaps", "EffectiveCaps", "OCIRuntime", "ImageName", "IsInfra"].into_iter().any(has);
        if has("HostConfig") {
            return Some(if is_podman { Format::Podman } else { Format::Docker });
        }
        has("services").then_some(Format::Compose)
    }
}
