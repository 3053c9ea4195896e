//! Which sockets in the file system are answered by somebody outside.
//!
//! A command without uplink still leaves the machine through any process that does something for it: a container
//! engine, a resolver, a session bus that starts services, an agent, a terminal multiplexer. Their sockets are files,
//! so a new network namespace does not hide them (abstract sockets it does: they belong to the namespace).

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixDatagram;
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

/// Whether a socket of this table can't be found by what the table says: it was bound by a relative path, moved since, or
/// has a second name. Where it is then only a search can tell, see [`search`].
pub fn holds_lost(table: &[u8]) -> bool {
    let paths = table.split(|&b| b == b'\n').skip(1).filter_map(path_field);
    paths.filter(|path| !path.starts_with(b"@")).any(|path| {
        let path = Path::new(OsStr::from_bytes(path));
        let only_name = |socket: fs::Metadata| socket.file_type().is_socket() && socket.nlink() == 1;
        path.is_relative() || !fs::metadata(path).is_ok_and(only_name)
    })
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

/// Sockets of services outside of `/run`, which may be bound where this user can't look.
pub const WELL_KNOWN: &[&str] =
    &["/var/lib/lxd/unix.socket", "/var/lib/incus/unix.socket", "/var/snap/lxd/common/lxd/unix.socket"];

/// `/proc/net/unix` of every network namespace that this process can see, its own first.
///
/// A socket in the file system works across network namespaces, so one that a container's process has bound in a shared
/// folder is a way out like one of the host. Processes that can't be looked into belong to other users; what they offer
/// this user is in `/run`, see [`below`].
pub fn tables() -> io::Result<Vec<Vec<u8>>> {
    let mut tables = vec![fs::read("/proc/net/unix")?];
    let mut seen: HashSet<PathBuf> = fs::read_link("/proc/self/ns/net").into_iter().collect();
    for process in fs::read_dir("/proc")?.flatten().map(|entry| entry.path()) {
        let Ok(namespace) = fs::read_link(process.join("ns/net")) else { continue };
        if seen.insert(namespace) {
            // The process may have ended since.
            tables.extend(fs::read(process.join("net/unix")));
        }
    }
    Ok(tables)
}

/// The sockets below a folder, links not followed. Folders that this user can't enter hold none that it can reach.
pub fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(&entry.path(), found),
            Ok(kind) if kind.is_socket() => found.push(entry.path()),
            _ => {}
        }
    }
}

/// The answered sockets below a folder, links not followed, after a look at no more than `entries` files, which are taken
/// off; `false` if that was too few.
pub fn search(folder: &Path, entries: &mut usize, found: &mut Vec<PathBuf>) -> bool {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if *entries == 0 {
                return false;
            }
            *entries -= 1;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_socket() && is_answered(&entry.path()) => found.push(entry.path()),
                _ => {}
            }
        }
    }
    true
}

/// Whether somebody holds this socket, found out without being noticed: the kernel lets a datagram socket connect to one
/// of its kind without a word, and tells one of another kind (EPROTOTYPE) from a name that is left over (ECONNREFUSED).
fn is_answered(path: &Path) -> bool {
    let connected = UnixDatagram::unbound().and_then(|socket| socket.connect(path));
    !connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

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

    #[test]
    fn left_over_names_are_told_from_answered_sockets() {
        let folder = std::env::temp_dir().join(format!("closedbook-search-{}", std::process::id()));
        fs::create_dir_all(folder.join("below")).unwrap();
        let stream = std::os::unix::net::UnixListener::bind(folder.join("below/stream")).unwrap();
        let datagram = UnixDatagram::bind(folder.join("datagram")).unwrap();
        drop(UnixDatagram::bind(folder.join("left-over")).unwrap());
        fs::write(folder.join("file"), "").unwrap();
        let mut found = Vec::new();
        assert!(search(&folder, &mut 5, &mut found));
        found.sort();
        assert_eq!(found, [folder.join("below/stream"), folder.join("datagram")]);
        assert!(!search(&folder, &mut 4, &mut Vec::new()), "five files are there");
        stream.set_nonblocking(true).unwrap();
        assert!(stream.accept().is_err(), "it was noticed");
        drop((stream, datagram));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_relative_path_is_lost() {
        let row =
            |path: &str| format!("Num\n0000000000000000: 00000002 00000000 00010000 0001 01 17310 {path}\n");
        assert!(holds_lost(row("agent.socket").as_bytes()));
        assert!(holds_lost(row("/nowhere/agent.socket").as_bytes()));
        assert!(!holds_lost(row("@/nowhere/agent.socket").as_bytes()));
        assert!(!holds_lost(b"Num\n0000000000000000: 00000003 00000000 00000000 0001 03 17312\n"));
    }
}
