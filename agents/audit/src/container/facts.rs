//! What is known about one container, whoever told it.

use super::capability::Capabilities;
use super::finding::Remark;

/// Where a fact stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Spot {
    /// Offset in the file; none for what is not written there.
    pub(super) at: Option<usize>,
    /// The field.
    pub(super) field: String,
}

/// A fact and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) spot: Spot,
}

impl<T> At<T> {
    pub(super) fn new(value: T, spot: Spot) -> Self {
        Self { value, spot }
    }
}

/// Who runs it: what is the default differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Docker,
    Podman,
    Compose,
    Oci,
    Kubernetes,
}

/// A switch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Flag {
    On,
    Off,
    #[default]
    Unset,
    /// What stands there is neither on nor off.
    Unknown(String),
}

/// How a container comes to its network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Network {
    /// A namespace with `lo` alone.
    None,
    /// The machine's own.
    Host,
    /// A namespace of its own with a way out, as told: `bridge`, `proj_default`.
    Own(String),
    /// One that is on networks without a way out alone.
    Internal(String),
    /// Another container's, by name or id; or a namespace's path.
    Of(String),
    /// The pod's, which all its containers share.
    Pod,
    /// Nobody knows.
    Unknown(String),
}

/// Another namespace than the network's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Namespace {
    Own,
    Host,
    Of(String),
    /// All containers of the pod share it.
    Pod,
    Unknown(String),
}

/// What is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) source: Source,
    pub(super) target: String,
    pub(super) writable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A path of the machine, as [`super::path::clean`] writes it.
    Host(String),
    /// A named volume.
    Volume(String),
    /// A file system of the kernel, mounted anew: `cgroup2`, `sysfs`.
    Kernel(String),
    /// A server's.
    Remote(String),
    /// Nobody knows.
    Unknown(String),
}

/// Who the container's first process is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum User {
    /// Root, as told or because nothing is told.
    Root,
    /// A number that is not 0: certainly not root.
    Number,
    /// A name, or something that follows from a variable; may be an alias of root.
    Name(String),
}

/// A part of the confinement that was taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unconfined {
    Seccomp,
    /// Kubernetes leaves it to the node when nothing is told, and the node's default is none.
    SeccompUnset,
    AppArmor,
    Label,
    /// `/proc/sys` and its like are not covered or not read-only.
    SystemPaths,
    /// Something else that nobody knows.
    Unknown(String),
}

/// When it runs, beside the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before the main ones, to its end: number so many.
    Init(usize),
    /// Before the main ones, and on beside them: number so many. Whether the others wait until it is started.
    Beside(usize, Waits),
    /// With the other main ones: number so many.
    Main(usize, Waits),
    /// Put into a running pod.
    Debug,
}

/// Whether what comes after waits until this one has done its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    Yes,
    No,
}

/// What a service waits for before it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct After {
    pub(super) service: String,
    pub(super) healthy: bool,
}

/// One container.
#[derive(Debug, Clone)]
pub(super) struct Container {
    /// Which input it is from.
    pub(super) file: usize,
    /// Containers of one scope know each other by name.
    pub(super) scope: usize,
    pub(super) engine: Engine,
    pub(super) name: String,
    /// What else it goes by.
    pub(super) aliases: Vec<String>,
    pub(super) image: Option<String>,
    pub(super) spot: Spot,
    pub(super) stage: Stage,
    pub(super) after: Option<Vec<At<After>>>,
    pub(super) privileged: At<Flag>,
    pub(super) capabilities: Capabilities,
    pub(super) network: At<Network>,
    /// Networks beside those that the mode says.
    pub(super) networks: Vec<At<String>>,
    pub(super) pid: At<Namespace>,
    pub(super) ipc: At<Namespace>,
    pub(super) uts: At<Namespace>,
    pub(super) cgroup: At<Namespace>,
    pub(super) user_namespace: At<Namespace>,
    pub(super) mounts: Vec<At<Mount>>,
    pub(super) volumes_from: Vec<At<String>>,
    pub(super) devices: Vec<At<String>>,
    pub(super) device_rules: Vec<At<String>>,
    pub(super) gpus: Vec<Spot>,
    pub(super) sysctls: Vec<At<(String, String)>>,
    pub(super) unconfined: Vec<At<Unconfined>>,
    pub(super) no_new_privileges: At<Flag>,
    pub(super) user: At<User>,
    pub(super) read_only: At<Flag>,
    pub(super) ports: Vec<At<String>>,
    pub(super) hosts: Vec<At<String>>,
    pub(super) links: Vec<At<String>>,
    pub(super) dns: Vec<At<String>>,
    /// Names, and values where they are told.
    pub(super) environment: Vec<At<(String, Option<String>)>>,
    pub(super) restart: Option<At<String>>,
    pub(super) runtime: Option<At<String>>,
    pub(super) cgroup_parent: Option<At<String>>,
    /// What only its own kind of input can say.
    pub(super) remarks: Vec<Remark>,
}

impl Container {
    /// One about which nothing is told yet.
    pub(super) fn bare(engine: Engine, file: usize, scope: usize, name: String, spot: Spot) -> Self {
        let own = || At::new(Namespace::Own, spot.clone());
        let unset = || At::new(Flag::Unset, spot.clone());
        Self {
            file,
            scope,
            engine,
            name,
            aliases: Vec::new(),
            image: None,
            stage: Stage::Main(0, Waits::No),
            after: None,
            privileged: unset(),
            capabilities: Capabilities::default(),
            network: At::new(Network::Unknown("nothing is told".into()), spot.clone()),
            networks: Vec::new(),
            pid: own(),
            ipc: own(),
            uts: own(),
            cgroup: own(),
            user_namespace: own(),
            mounts: Vec::new(),
            volumes_from: Vec::new(),
            devices: Vec::new(),
            device_rules: Vec::new(),
            gpus: Vec::new(),
            sysctls: Vec::new(),
            unconfined: Vec::new(),
            no_new_privileges: unset(),
            user: At::new(User::Root, spot.clone()),
            read_only: unset(),
            ports: Vec::new(),
            hosts: Vec::new(),
            links: Vec::new(),
            dns: Vec::new(),
            environment: Vec::new(),
            restart: None,
            runtime: None,
            cgroup_parent: None,
            remarks: Vec::new(),
            spot,
        }
    }

    /// Whether this name or id means it. Ids may be cut short, as people do.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let name = name.strip_prefix('/').unwrap_or(name);
        let is_id = |known: &str| {
            name.len() >= 8
                && known.len() == 64
                && known.starts_with(name)
                && name.bytes().all(|b| b.is_ascii_hexdigit())
        };
        self.name == name || self.aliases.iter().any(|known| known == name || is_id(known))
    }
}
