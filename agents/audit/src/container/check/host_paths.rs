//! Paths of the machine, and what having them in a container would allow.

use super::devices;
use crate::container::finding::Level;
use crate::container::path::{file_name, is_in};

/// Sockets of engines, by the name that they have everywhere.
const ENGINES: [&str; 11] = [
    "docker.sock",
    "docker.sock.raw",
    "docker-cli.sock",
    "podman.sock",
    "containerd.sock",
    "containerd.sock.ttrpc",
    "crio.sock",
    "cri-dockerd.sock",
    "dockershim.sock",
    "buildkitd.sock",
    "docker_engine",
];

const ENGINE: &str = "It speaks to the engine: it can start a container of its own beside the sidecar, with any network and any right.";
const SOCKETS: &str = "The sockets of the machine's services are in it, the engine's among them; that it is read-only does not keep anybody from connecting.";
const KEYS: &str = "Keys and settings of the machine's users are in it.";
const PROGRAMS: &str = "The machine runs programs from there, and would run what the task has written.";

/// What is known of a folder.
struct Known {
    path: &'static str,
    /// What it is called, in a finding.
    id: &'static str,
    writable: (Level, &'static str),
    read_only: (Level, &'static str),
    /// Whether the same holds of what lies in it.
    below: bool,
}

const fn known(
    path: &'static str,
    id: &'static str,
    writable: (Level, &'static str),
    read_only: (Level, &'static str),
    below: bool,
) -> Known {
    Known { path, id, writable, read_only, below }
}

use Level::{Breaks, Note, Weakens};

/// The first that fits.
const PATHS: &[Known] = &[
    known(
        "/",
        "host-path",
        (Breaks, "The whole machine is in it: its sockets, its other containers, its start-up files."),
        (Breaks, "The whole machine is in it, and its sockets answer."),
        false,
    ),
    known(
        "/etc/localtime",
        "host-path",
        (Weakens, PROGRAMS),
        (Note, "It tells the machine's time zone."),
        true,
    ),
    known(
        "/etc/timezone",
        "host-path",
        (Weakens, PROGRAMS),
        (Note, "It tells the machine's time zone."),
        true,
    ),
    known(
        "/etc/ssl",
        "host-path",
        (Breaks, "It says whom the machine trusts."),
        (Note, "It tells whom the machine trusts."),
        true,
    ),
    known(
        "/etc/hosts",
        "host-path",
        (Weakens, "It says where names lead for the whole machine."),
        (Note, "It tells names of the machine's network."),
        true,
    ),
    known(
        "/etc/resolv.conf",
        "host-path",
        (Weakens, "It says whom the whole machine asks for names."),
        (Note, "It tells whom the machine asks for names."),
        true,
    ),
    known(
        "/etc/passwd",
        "host-path",
        (Breaks, "It says who the machine's users are."),
        (Note, "It tells who the machine's users are."),
        true,
    ),
    known(
        "/etc/group",
        "host-path",
        (Breaks, "It says who the machine's users are."),
        (Note, "It tells who the machine's users are."),
        true,
    ),
    known(
        "/etc",
        "host-path",
        (Breaks, "It says what the machine starts, and as whom."),
        (Weakens, KEYS),
        true,
    ),
    known("/run/docker", "engine-folder", (Breaks, SOCKETS), (Breaks, SOCKETS), true),
    known("/run/containerd", "engine-folder", (Breaks, SOCKETS), (Breaks, SOCKETS), true),
    known("/run/crio", "engine-folder", (Breaks, SOCKETS), (Breaks, SOCKETS), true),
    known("/run/podman", "engine-folder", (Breaks, SOCKETS), (Breaks, SOCKETS), true),
    known("/run/buildkit", "engine-folder", (Breaks, SOCKETS), (Breaks, SOCKETS), true),
    known(
        "/run/systemd",
        "host-path",
        (Breaks, "The machine's first process answers there, and starts anything for who may ask."),
        (Breaks, "The machine's first process answers there, and starts anything for who may ask."),
        true,
    ),
    known(
        "/run/dbus",
        "host-path",
        (Breaks, "The machine's services answer there, the one that starts others among them."),
        (Breaks, "The machine's services answer there, the one that starts others among them."),
        true,
    ),
    known(
        "/run/netns",
        "host-path",
        (Breaks, "Other network namespaces can be entered from there."),
        (Weakens, "Other network namespaces are in sight there."),
        true,
    ),
    known("/run", "engine-folder", (Breaks, SOCKETS), (Breaks, SOCKETS), false),
    known("/run/user", "engine-folder", (Breaks, SOCKETS), (Breaks, SOCKETS), true),
    known(
        "/run/host-services",
        "host-path",
        (Weakens, "Services of the machine's user answer there, the agent of its keys among them."),
        (Weakens, "Services of the machine's user answer there, the agent of its keys among them."),
        true,
    ),
    known(
        "/run",
        "host-path",
        (Weakens, "Something of a running service of the machine is in it."),
        (Weakens, "Something of a running service of the machine is in it."),
        true,
    ),
    known("/var", "engine-folder", (Breaks, SOCKETS), (Breaks, SOCKETS), false),
    known(
        "/var/lib",
        "engine-folder",
        (Breaks, "Files of all containers are in it, the sidecar's too."),
        (Weakens, "Files of all containers are in it, the sidecar's too."),
        false,
    ),
    known(
        "/var/lib/docker",
        "engine-folder",
        (Breaks, "Files of all containers are in it, the sidecar's too."),
        (Weakens, "Files of all containers are in it, the sidecar's too."),
        true,
    ),
    known(
        "/var/lib/containerd",
        "engine-folder",
        (Breaks, "Files of all containers are in it, the sidecar's too."),
        (Weakens, "Files of all containers are in it, the sidecar's too."),
        true,
    ),
    known(
        "/var/lib/containers",
        "engine-folder",
        (Breaks, "Files of all containers are in it, the sidecar's too."),
        (Weakens, "Files of all containers are in it, the sidecar's too."),
        true,
    ),
    known(
        "/var/lib/kubelet",
        "engine-folder",
        (Breaks, "Files and tokens of all pods of the node are in it."),
        (Weakens, "Files and tokens of all pods of the node are in it."),
        true,
    ),
    known(
        "/var/spool/cron",
        "host-path",
        (Breaks, PROGRAMS),
        (Note, "It tells what the machine starts, and when."),
        true,
    ),
    known(
        "/proc",
        "host-proc",
        (Breaks, "Every process of the machine is in it, with its files and namespaces."),
        (Breaks, "Every process of the machine is in it, with its files and namespaces."),
        true,
    ),
    known(
        "/sys/fs/cgroup",
        "cgroupfs",
        (
            Breaks,
            "It moves itself into the control group by which the sidecar is known, and on older machines names a program that the kernel runs.",
        ),
        (Note, "It sees the machine's control groups."),
        true,
    ),
    known(
        "/sys/fs/bpf",
        "host-sys",
        (Breaks, "It has the kernel programs that others have loaded."),
        (Breaks, "It has the kernel programs that others have loaded."),
        true,
    ),
    known(
        "/sys/kernel/debug",
        "host-sys",
        (Breaks, "It traces and changes the machine's kernel."),
        (Weakens, "It reads the state of the machine's kernel."),
        true,
    ),
    known(
        "/sys/kernel/tracing",
        "host-sys",
        (Breaks, "It traces and changes the machine's kernel."),
        (Weakens, "It reads the state of the machine's kernel."),
        true,
    ),
    known(
        "/sys",
        "host-sys",
        (Breaks, "Settings of the machine's kernel and devices are in it, control groups too."),
        (Weakens, "It sees the machine's devices and control groups."),
        true,
    ),
    known("/root", "host-home", (Breaks, PROGRAMS), (Weakens, KEYS), true),
    known("/home", "host-home", (Weakens, PROGRAMS), (Weakens, KEYS), false),
    known("/usr", "host-path", (Breaks, PROGRAMS), (Note, "It has the machine's programs."), true),
    known("/bin", "host-path", (Breaks, PROGRAMS), (Note, "It has the machine's programs."), true),
    known("/sbin", "host-path", (Breaks, PROGRAMS), (Note, "It has the machine's programs."), true),
    known("/lib", "host-path", (Breaks, PROGRAMS), (Note, "It has the machine's programs."), true),
    known("/lib64", "host-path", (Breaks, PROGRAMS), (Note, "It has the machine's programs."), true),
    known("/boot", "host-path", (Breaks, PROGRAMS), (Note, "It has the machine's kernel."), true),
    known("/opt", "host-path", (Weakens, PROGRAMS), (Note, "It has programs of the machine."), false),
    known(
        "/tmp",
        "host-path",
        (Weakens, "Sockets and files of the machine's users are in it."),
        (Weakens, "Sockets and files of the machine's users are in it."),
        false,
    ),
    known(
        "/tmp/.X11-unix",
        "host-path",
        (Weakens, "It types and reads on the machine's screen."),
        (Weakens, "It types and reads on the machine's screen."),
        true,
    ),
    known("/pipe", "engine-folder", (Breaks, ENGINE), (Breaks, ENGINE), true),
];

/// Folders in a home that hold keys, and those that a shell starts from.
const PRIVATE: [&str; 10] = [
    ".ssh",
    ".aws",
    ".kube",
    ".docker",
    ".gnupg",
    ".config",
    ".azure",
    ".netrc",
    ".git-credentials",
    ".npmrc",
];

/// What it would allow to have this path, which [`super::super::path::clean`] wrote. `None` if nothing is known against it.
pub(super) fn judged(
    path: &str,
    target: &str,
    writable: bool,
) -> Option<(Level, &'static str, &'static str)> {
    let is_engine = |path: &str| ENGINES.contains(&file_name(path));
    if is_engine(path) || is_engine(target) {
        return Some((Breaks, "engine-socket", ENGINE));
    }
    if is_in(path, "/dev") {
        return devices::judged(path).map(|(level, allows)| (level, "device", allows));
    }
    // Where the engine itself keeps the container's own names.
    if ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"].contains(&target)
        && file_name(path) == file_name(target)
    {
        return None;
    }
    let fits = |known: &&Known| path == known.path || (known.below && is_in(path, known.path));
    if let Some(known) = PATHS.iter().find(fits) {
        let (level, allows) = if writable { known.writable } else { known.read_only };
        return Some((level, known.id, allows));
    }
    if is_home(path) {
        let (level, allows) = if writable { (Weakens, PROGRAMS) } else { (Weakens, KEYS) };
        return Some((level, "host-home", allows));
    }
    if path.split('/').any(|part| PRIVATE.contains(&part)) && is_in_home(path) {
        return Some((Weakens, "host-home", KEYS));
    }
    let name = file_name(path);
    if name.ends_with(".sock") || name.ends_with(".socket") || name.starts_with("ssh-") {
        return Some((
            Weakens,
            "socket",
            "A service of the machine answers there, and may act or connect for it.",
        ));
    }
    None
}

/// A whole home.
fn is_home(path: &str) -> bool {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["home" | "Users", _] => path.starts_with('/'),
        [home] => home.starts_with('~'),
        _ => false,
    }
}

fn is_in_home(path: &str) -> bool {
    path.starts_with('~') || path.starts_with("/home/") || path.starts_with("/Users/")
}
