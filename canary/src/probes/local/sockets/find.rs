//! Where sockets are.

use std::fs;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use socket2::SockAddr;

use super::{Peer, peer};
use crate::nonce::Nonce;
use crate::seen::Seen;

/// Engines that start containers for whoever asks.
pub(super) const ENGINES: [&str; 10] = [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/run/buildkit/buildkitd.sock",
    "/run/k3s/containerd/containerd.sock",
    "/run/host-services/docker.proxy.sock",
    "/var/run/docker-cli.sock",
    "/var/lib/lxd/unix.socket",
];
/// Keys, buses, displays.
const OTHERS: [&str; 6] = [
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/host-services/ssh-auth.sock",
    "/run/snapd.socket",
    "/tmp/.X11-unix/X0",
    "/run/avahi-daemon/socket",
];
/// Variables that name a socket, some of them as a URL.
const VARIABLES: [&str; 5] =
    ["SSH_AUTH_SOCK", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "GPG_AGENT_INFO"];
/// Folders in which sockets are made.
const FOLDERS: [&str; 5] = ["/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm"];
/// Entries of folders that are looked at in one walk.
const MOST: usize = 20_000;

/// Paths that are known, or named by the environment.
pub(super) fn known() -> Vec<PathBuf> {
    let named = VARIABLES.iter().filter_map(|name| std::env::var(name).ok()).map(|text| path_in(&text));
    ENGINES.iter().chain(&OTHERS).map(PathBuf::from).chain(named).collect()
}

/// `/path`, `unix:///path`, `unix:path=/path,guid=...`, `/path:pid:1`.
fn path_in(text: &str) -> PathBuf {
    let text = text.strip_prefix("unix:path=").or_else(|| text.strip_prefix("unix://")).unwrap_or(text);
    text.split([',', ':']).next().unwrap_or_default().into()
}

/// Sockets in folders that usually have some.
pub(super) fn in_usual_folders() -> impl Iterator<Item = PathBuf> {
    FOLDERS.iter().flat_map(|folder| below(Path::new(folder), 4))
}

/// Sockets in a folder and those below it, so many levels deep.
pub(super) fn below(folder: &Path, levels: usize) -> Vec<PathBuf> {
    let mut sockets = Vec::new();
    let mut folders = vec![(folder.to_owned(), levels)];
    let mut looked = 0;
    while let Some((folder, levels)) = folders.pop() {
        // A folder that may not be read hides what is in it from everybody who is like us.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked += 1;
            if looked > MOST {
                return sockets;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_socket() => sockets.push(entry.path()),
                Ok(kind) if kind.is_dir() && levels > 0 => folders.push((entry.path(), levels - 1)),
                _ => {}
            }
        }
    }
    sockets
}

/// A socket that this process makes must be found, and told to be its own. Where nothing can be written, the folders have
/// to be readable at least.
pub(super) fn finds_its_own(nonce: &Nonce) -> Result<(), Seen> {
    for folder in FOLDERS.map(Path::new) {
        let path = folder.join(format!("canary-{nonce}.sock"));
        let Ok(_held) = UnixListener::bind(&path) else { continue };
        let found = below(folder, 0).contains(&path);
        let own = SockAddr::unix(&path).and_then(|at| peer(&at));
        // Nobody else has that name.
        let _ = fs::remove_file(&path);
        return match (found, own) {
            (true, Ok(Peer::Known)) => Ok(()),
            (false, _) => Err(Seen::failed(format!("a socket in {} is not found", folder.display()))),
            (true, other) => Err(Seen::failed(format!("who listens is not told: {other:?}"))),
        };
    }
    fs::read_dir("/").map(|_| ()).map_err(|error| Seen::failed(format!("no folder can be read: {error}")))
}

/// A socket under an abstract name.
pub(super) fn listen_abstract(name: &str) -> io::Result<UnixListener> {
    UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

/// The address of an abstract name.
pub(super) fn abstract_address(name: &[u8]) -> io::Result<SockAddr> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    // A path that starts with NUL is an abstract name to the kernel.
    SockAddr::unix(OsStr::from_bytes(&[&[0], name].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_name_sockets_in_many_ways() {
        for text in ["/a/b", "unix:///a/b", "unix:path=/a/b,guid=7", "/a/b:12:1"] {
            assert_eq!(path_in(text), Path::new("/a/b"), "{text}");
        }
    }
}
