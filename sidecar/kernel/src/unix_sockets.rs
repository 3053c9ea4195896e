//! Which sockets in the file system are answered by somebody outside.
//!
//! A command without uplink still leaves the machine through any process that does something for it: a container
//! engine, a resolver, a session bus that starts services, an agent, a terminal multiplexer. Their sockets are files,
//! so a new network namespace does not hide them (abstract sockets it does: they belong to the namespace).

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The sockets in the file system that are bound by a process of the network namespace whose `/proc/net/unix` this is.
///
/// Format: `Num RefCount Protocol Flags Type St Inode Path`; abstract names begin with `@`, relative ones can't be found.
pub fn bound(table: &[u8]) -> Vec<PathBuf> {
    table
        .split(|&b| b == b'\n')
        .skip(1)
        .filter_map(path_field)
        .filter(|path| path.starts_with(b"/"))
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
        .collect()
}

/// What follows the seventh field; a path may hold blanks.
fn path_field(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    for _ in 0..7 {
        rest = rest.trim_ascii_start();
        let end = rest.iter().position(|&b| b == b' ')?;
        rest = rest.get(end..)?;
    }
    rest.strip_prefix(b" ")
}

/// Sockets of services that may be bound in another network namespace, or only later (socket activation).
pub const WELL_KNOWN: &[&str] = &[
    "/run/docker.sock",
    "/run/docker/containerd/containerd.sock",
    "/run/containerd/containerd.sock",
    "/run/containerd/containerd.sock.ttrpc",
    "/run/podman/podman.sock",
    "/run/crio/crio.sock",
    "/run/buildkit/buildkitd.sock",
    "/run/k3s/containerd/containerd.sock",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/run/libvirt/libvirt-sock",
    "/run/libvirt/virtqemud-sock",
    "/run/systemd/private",
    "/run/systemd/io.systemd.Manager",
    "/run/systemd/resolve/io.systemd.Resolve",
    "/run/systemd/resolve/io.systemd.Resolve.Monitor",
    "/run/systemd/machine/io.systemd.Machine",
    "/run/systemd/journal/socket",
    "/run/dbus/system_bus_socket",
    "/run/nscd/socket",
    "/run/avahi-daemon/socket",
    "/run/cups/cups.sock",
    "/run/pcscd/pcscd.comm",
    "/var/lib/lxd/unix.socket",
    "/var/lib/incus/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
];

/// Sockets below a user's runtime folder (`/run/user/UID`), likewise.
pub const WELL_KNOWN_IN_RUNTIME_DIR: &[&str] = &[
    "bus",
    "systemd/private",
    "systemd/io.systemd.Manager",
    "docker.sock",
    "podman/podman.sock",
    "containerd-rootless/api.sock",
    "buildkit/buildkitd.sock",
];

/// The path without links, if a socket is there now.
pub fn existing(path: &Path) -> io::Result<Option<PathBuf>> {
    let path = match path.canonicalize() {
        Ok(path) => path,
        // Bound and unlinked, or in a folder that this user can't enter: no way to connect to it either.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            return Ok(None);
        }
        // A socket path in a folder that has been replaced by a file (ENOTDIR) is as gone.
        Err(error) if error.raw_os_error() == Some(libc::ENOTDIR) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(path.metadata()?.file_type().is_socket().then_some(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_and_abstract_names_left_out() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 17310 /run/docker.sock
0000000000000000: 00000002 00000000 00010000 0001 01 17311 @/tmp/.X11-unix/X0
0000000000000000: 00000003 00000000 00000000 0001 03 17312
0000000000000000: 00000002 00000000 00000000 0002 01 17313 /run/with blank/socket
";
        // An abstract name that holds a slash would be taken for a path by a careless reader.
        assert_eq!(bound(table), [Path::new("/run/docker.sock"), Path::new("/run/with blank/socket")]);
    }
}
