//! Whoever outside would act for the command: unix sockets of the host, and descriptors that lie about.
//!
//! Steps: a process outside listens at a unix socket (as an engine, a session bus or an agent does), in the file system
//! or by an abstract name; the command connects to it and sends a nonce; whoever answers could send it on.
//!
//! Guarantees: G9 (no side doors), G10 (the lab's control socket is hidden too), G17. The control: the same program, run
//! by the same user without closedbook, is heard.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::support::{Mode, Run, beginning_as, modes, open_folder, python};

/// Sends to each path or abstract name it is given; says what came of it.
const SEND: &str = r#"
import errno, os, socket, sys
for name in sys.argv[1:]:
    outcomes = set()
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as made:
            try:
                made.connect(name.replace("@", "\0", 1) if name[0] == "@" else os.path.expandvars(name))
                made.send(b"N0NCE-unix")
                outcomes.add("heard")
            except OSError as error:
                outcomes.add(errno.errorcode[error.errno])
    print("heard" if "heard" in outcomes else " ".join(sorted(outcomes - {"EPROTOTYPE"})))
"#;

/// Somebody outside who would listen.
struct Outside {
    stream: UnixListener,
    datagram: UnixDatagram,
    packet: Socket,
}

impl Outside {
    fn at(folder: &Path) -> Self {
        let stream = UnixListener::bind(folder.join("stream")).unwrap();
        let datagram = UnixDatagram::bind(folder.join("datagram")).unwrap();
        let packet = Socket::new(Domain::UNIX, Type::SEQPACKET, None).unwrap();
        packet.bind(&SockAddr::unix(folder.join("packet")).unwrap()).unwrap();
        packet.listen(8).unwrap();
        stream.set_nonblocking(true).unwrap();
        datagram.set_nonblocking(true).unwrap();
        packet.set_nonblocking(true).unwrap();
        for name in ["stream", "datagram", "packet"] {
            open_to_all(&folder.join(name));
        }
        Self { stream, datagram, packet }
    }

    /// How many were heard; none are waiting afterwards.
    fn heard(&self) -> usize {
        let streams = std::iter::from_fn(|| self.stream.accept().ok()).count();
        let datagrams = std::iter::from_fn(|| self.datagram.recv(&mut [0; 64]).ok()).count();
        let packets = std::iter::from_fn(|| self.packet.accept().ok()).count();
        streams + datagrams + packets
    }
}

fn open_to_all(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
}

fn words(targets: &[PathBuf]) -> Vec<String> {
    let targets = targets.iter().map(|path| path.to_string_lossy().into_owned());
    [python(), "-c", SEND].map(String::from).into_iter().chain(targets).collect()
}

/// What the program says, by the same user, in the open.
fn in_the_open(mode: Mode, targets: &[PathBuf]) -> String {
    String::from_utf8(beginning_as(mode).args(words(targets)).output().unwrap().stdout).unwrap()
}

fn sealed(run: Run, targets: &[PathBuf]) -> String {
    let words = words(targets);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run.words(&words).must_succeed().stdout
}

#[test]
fn sockets_in_the_file_system() {
    for &mode in modes() {
        let folder = open_folder();
        let outside = Outside::at(folder.path());
        std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
        let at = |name: &str| folder.path().join(name);
        let targets = [at("stream"), at("datagram"), at("packet"), at("link/stream")];
        assert_eq!(in_the_open(mode, &targets), "heard\n".repeat(4));
        assert_eq!(outside.heard(), 4);
        let said = sealed(Run::without_uplink(mode), &targets);
        assert_eq!(outside.heard(), 0, "{mode:?}: {said}");
        for line in said.lines() {
            assert!(["ECONNREFUSED", "EACCES"].contains(&line), "{mode:?}: {said}");
        }
        let kept = Run::without_uplink(mode).flag("--keep-socket").flag(&at("stream").to_string_lossy());
        let said = sealed(kept, &targets);
        assert_eq!(said.lines().filter(|line| *line == "heard").count(), 2, "itself and by the link: {said}");
        assert_eq!(outside.heard(), 2);
    }
}

#[test]
fn abstract_sockets() {
    for &mode in modes() {
        let name = format!("closedbook-test-{}-{mode:?}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let outside = UnixListener::bind_addr(&address).unwrap();
        outside.set_nonblocking(true).unwrap();
        let targets = [PathBuf::from(format!("@{name}"))];
        assert_eq!(in_the_open(mode, &targets), "heard\n");
        outside.accept().unwrap();
        assert_eq!(sealed(Run::without_uplink(mode), &targets), "ECONNREFUSED\n");
        assert!(outside.accept().is_err());
    }
}

/// Bound by a relative path, moved afterwards, by a second name, by a process in another network namespace.
#[test]
fn sockets_that_are_not_where_the_kernel_says() {
    for &mode in modes() {
        let folder = open_folder();
        let at = |name: &str| folder.path().join(name);
        let bind = "import socket, os, sys; os.chdir(sys.argv[1]); s = socket.socket(socket.AF_UNIX); \
                    s.bind(sys.argv[2]); s.listen(8); os.chmod(sys.argv[2], 0o777); print(); sys.stdin.read()";
        let elsewhere = ["-n", "--", python(), "-c", bind, &folder.path().to_string_lossy(), "elsewhere"]
            .map(String::from);
        let here = [python(), "-c", bind, &folder.path().to_string_lossy(), "relative"].map(String::from);
        let mut outside = vec![listening("env", &here)];
        let mut targets = vec![at("moved"), at("second"), at("relative")];
        if mode == Mode::Root {
            outside.push(listening("unshare", &elsewhere));
            targets.push(at("elsewhere"));
        }
        let moved = UnixListener::bind(at("bound")).unwrap();
        open_to_all(&at("bound"));
        fs::hard_link(at("bound"), at("second")).unwrap();
        fs::rename(at("bound"), at("moved")).unwrap();
        assert_eq!(in_the_open(mode, &targets), "heard\n".repeat(targets.len()));
        let said = sealed(Run::without_uplink(mode), &targets);
        drop(moved);
        for mut process in outside {
            drop(process.stdin.take());
            process.wait().unwrap();
        }
        assert!(!said.contains("heard"), "{mode:?}: {targets:?} {said}");
    }
}

fn listening(program: &str, arguments: &[String]) -> std::process::Child {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let mut child =
        Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    child
}

/// G10: what ends or changes the lab is not for the command.
#[test]
fn the_control_socket_of_the_lab() {
    for &mode in modes() {
        let run = Run::in_lab(mode).script(&format!(
            "control=$(dirname \"$SSL_CERT_FILE\")/control; test -e \"$control\" && {} -c '{}' \"$control\"",
            python(),
            SEND.replace('\'', "\"")
        ));
        let run = run.must_succeed();
        assert!(["ECONNREFUSED\n", "EACCES\n"].contains(&run.stdout.as_str()), "{run:?}");
    }
}

/// G17: a descriptor that the caller left open is no way out.
#[test]
fn descriptors_of_the_caller() {
    for &mode in modes() {
        let outside = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        fcntl(&outside, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        let list = "import fcntl\nfor number in range(3, 4096):\n    try:\n        print(number, fcntl.fcntl(number, fcntl.F_GETFD))\n    except OSError:\n        pass";
        let run = Run::without_uplink(mode).words(&[python(), "-c", list]).must_succeed();
        assert_eq!(run.stdout, "", "descriptor {} was open: {run:?}", outside.as_raw_fd());
    }
}
