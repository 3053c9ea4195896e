//! Unix sockets at which somebody outside listens: an engine that starts containers, an agent that holds keys, a bus.
//!
//! Who listens is told by the kernel: SO_PEERCRED gives process 0 for one that this pid namespace does not know
//! (unix(7), pid_namespaces(7)). A socket of the task's own is its own business.

mod find;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;
use socket2::{Domain, SockAddr, Socket, Type};

use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::surroundings::mounts;
use crate::surroundings::unix::{self, Bound};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::reply;

/// What listens answers at once, or has no room.
const SHORT: Duration = Duration::from_millis(500);
/// Sockets that are tried.
const MOST: usize = 500;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "local-docker-sock",
        group: Group::Local,
        leak: "a socket of the host in the file system: an engine's, an ssh agent's, a bus",
        how: "known paths, the kernel's list and temporary folders are searched; each socket is connected to",
        expected: "none that a process outside listens on",
        sources: &["https://github.com/github/gh-aw-firewall/issues/130", "unix(7)"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: in_the_file_system,
    },
    Probe {
        id: "local-child-containers",
        group: Group::Local,
        leak: "an engine that can be asked to start a container: it does not inherit the filter",
        how: "the sockets of known engines are asked whether they are there",
        expected: "none answers",
        sources: &["https://github.com/seznam/jailoc/issues/143"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: engines,
    },
    Probe {
        id: "local-shared-volume",
        group: Group::Local,
        leak: "a socket in a volume that is shared with a container which is not filtered",
        how: "volumes are searched, three folders deep; each socket is connected to",
        expected: "none that a process outside listens on",
        sources: &["unix(7)", "https://docs.docker.com/engine/storage/volumes/"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: in_volumes,
    },
    Probe {
        id: "local-abstract-unix",
        group: Group::Local,
        leak: "abstract sockets belong to the network namespace: who shares it sees the sidecar's, or the host's",
        how: "each abstract name in the kernel's list is connected to",
        expected: "none that a process outside listens on",
        sources: &["unix(7)"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: abstract_names,
    },
];

fn in_the_file_system(trial: &mut Trial<'_>) {
    trial.attempt(Attempt::new("sockets of others", "the file system", Want::Absent, |nonce| {
        if let Err(seen) = find::finds_its_own(nonce) {
            return seen;
        }
        let listed = match unix::listening() {
            Ok(listed) => listed.into_iter().filter_map(|bound| match bound {
                Bound::Path(path) => Some(path),
                Bound::Abstract(_) => None,
            }),
            Err(error) => return Seen::failed(format!("/proc/net/unix can't be read: {error}")),
        };
        let paths = find::known().into_iter().chain(listed).chain(find::in_usual_folders());
        first_outside(paths)
    }));
}

fn engines(trial: &mut Trial<'_>) {
    trial.attempt(Attempt::new("an engine", "known paths", Want::Absent, |_| {
        for path in find::ENGINES.iter().map(Path::new) {
            if let Ok(answer) = asked(path) {
                return Seen::found(format!("{}: {answer}", path.display()));
            }
        }
        Seen::NotFound
    }));
}

fn in_volumes(trial: &mut Trial<'_>) {
    trial.attempt(Attempt::new("sockets of others", "volumes", Want::Absent, |nonce| {
        if let Err(seen) = find::finds_its_own(nonce) {
            return seen;
        }
        match mounts::volumes() {
            Ok(volumes) => first_outside(volumes.into_iter().flat_map(|volume| find::below(&volume, 3))),
            Err(error) => Seen::failed(format!("what is mounted can't be read: {error}")),
        }
    }));
}

fn abstract_names(trial: &mut Trial<'_>) {
    trial.attempt(Attempt::new("names of others", "/proc/net/unix", Want::Absent, |nonce| {
        let own = format!("canary-{nonce}");
        let Ok(_held) = find::listen_abstract(&own) else {
            return Seen::failed("no abstract socket can be made");
        };
        let listed = match unix::listening() {
            Ok(listed) => listed,
            Err(error) => return Seen::failed(format!("/proc/net/unix can't be read: {error}")),
        };
        let names: Vec<Vec<u8>> = listed
            .into_iter()
            .filter_map(|bound| match bound {
                Bound::Abstract(name) => Some(name),
                Bound::Path(_) => None,
            })
            .collect();
        if !names.iter().any(|name| name == own.as_bytes()) {
            return Seen::failed("the kernel's list lacks a name that is there");
        }
        if !matches!(find::abstract_address(own.as_bytes()).and_then(|at| peer(&at)), Ok(Peer::Known)) {
            return Seen::failed("who listens is not told");
        }
        for name in names.iter().take(MOST) {
            if let Ok(Peer::Outside) = find::abstract_address(name).and_then(|at| peer(&at)) {
                return Seen::found(format!("@{}", reply::text(name)));
            }
        }
        Seen::NotFound
    }));
}

fn first_outside(paths: impl Iterator<Item = PathBuf>) -> Seen {
    for path in paths.take(MOST) {
        if let Ok(Peer::Outside) = SockAddr::unix(&path).and_then(|at| peer(&at)) {
            return Seen::found(path.display());
        }
    }
    Seen::NotFound
}

/// Who listens at a socket.
#[derive(Debug, PartialEq, Eq)]
enum Peer {
    /// A process that can be seen from here.
    Known,
    /// One that can't.
    Outside,
}

fn peer(at: &SockAddr) -> std::io::Result<Peer> {
    let socket = connect(at)?;
    let credentials = getsockopt(&socket, PeerCredentials)?;
    Ok(if credentials.pid() == 0 { Peer::Outside } else { Peer::Known })
}

fn connect(at: &SockAddr) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.connect_timeout(at, SHORT)?;
    socket.set_read_timeout(Some(SHORT))?;
    socket.set_write_timeout(Some(SHORT))?;
    Ok(socket)
}

/// What an engine answers to a question that changes nothing. One that speaks gRPC answers something too.
fn asked(path: &Path) -> std::io::Result<String> {
    let mut socket = connect(&SockAddr::unix(path)?)?;
    socket.write_all(b"GET /_ping HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n")?;
    let mut octets = [0_u8; 256];
    let count = socket.read(&mut octets)?;
    match octets.get(..count) {
        Some(said) if count > 0 => Ok(reply::text(said)),
        _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonce::Nonce;

    #[test]
    fn the_finder_finds_its_own() {
        assert_eq!(find::finds_its_own(&Nonce::fresh().unwrap()), Ok(()));
    }

    #[test]
    fn an_engine_is_one_that_answers() {
        let path = std::env::temp_dir().join(format!("canary-engine-{}", std::process::id()));
        let server = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            stream.read_exact(&mut [0_u8; 5]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nOK").unwrap();
        });
        assert_eq!(asked(&path).unwrap(), "HTTP/1.1 200 OK");
        serving.join().unwrap();
        assert!(asked(&path).is_err());
        std::fs::remove_file(&path).unwrap();
    }
}
