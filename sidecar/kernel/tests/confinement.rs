//! G17: the restrictions of closedbook's own processes, tried by processes that have put them on.
//!
//! Not under the usual harness: it has threads, and what is tried here is tried in children of a process without any.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use closedbook_kernel::fork::fork_into;
use closedbook_kernel::landlock::{self, Enforced};
use closedbook_kernel::{addresses::Addresses, privileges, seccomp};
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::ptrace;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::WaitStatus;
use nix::unistd::{Pid, getppid};

fn main() {
    let tests: [(&str, fn()); 8] = [
        ("a_confined_proxy_does_its_work", a_confined_proxy_does_its_work),
        ("a_confined_proxy_opens_nothing", a_confined_proxy_opens_nothing),
        ("what_an_attacker_tries_ends_the_proxy", what_an_attacker_tries_ends_the_proxy),
        ("threads_are_confined_with_the_process", threads_are_confined_with_the_process),
        ("a_confined_proxy_can_abort", a_confined_proxy_can_abort),
        ("a_confined_anchor_binds_and_starts_nothing", a_confined_anchor_binds_and_starts_nothing),
        ("landlock_takes_the_file_system", landlock_takes_the_file_system),
        ("limits_stay", limits_stay),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
}

/// How a child ended that did this. A panic in it is exit code 70.
fn ended(body: impl FnOnce()) -> WaitStatus {
    let child = fork_into(CloneFlags::empty(), || {
        privileges::drop_all().unwrap();
        body();
        0
    });
    child.unwrap().wait().unwrap()
}

#[track_caller]
fn succeeds(body: impl FnOnce()) {
    let status = ended(body);
    assert!(matches!(status, WaitStatus::Exited(_, 0)), "{status:?}");
}

#[track_caller]
fn is_ended_by_the_filter(what: &str, body: impl FnOnce()) {
    let status = ended(body);
    assert!(matches!(status, WaitStatus::Signaled(_, Signal::SIGSYS, _)), "{what}: {status:?}");
}

/// Sockets, threads, pipes, files that are open, and what is asked over a socket that was opened before.
fn a_confined_proxy_does_its_work() {
    succeeds(|| {
        let mut addresses = Addresses::open().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        seccomp::confine_proxy().unwrap();
        let server = thread::Builder::new().name("server".into()).spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            stream.write_all(b"word").unwrap();
            listener.local_addr().unwrap()
        });
        let server = server.unwrap();
        assert!(addresses.list().unwrap().contains(&"127.0.0.1".parse().unwrap()));
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        datagrams.send_to(b"to itself", datagrams.local_addr().unwrap()).unwrap();
        file.write_all(b"a record").unwrap();
        let (mut reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"through").unwrap();
        drop(writer);
        assert_eq!(io::read_to_string(&mut reader).unwrap(), "through");
        assert!(getrlimit(Resource::RLIMIT_NOFILE).is_ok());
        // The server is not needed to be reached; its thread ends when it is.
        let address = "127.0.0.1:9".parse().unwrap();
        assert!(TcpStream::connect_timeout(&address, std::time::Duration::from_secs(5)).is_err());
        drop(server);
    });
}

/// Nothing of the file system, no socket but TCP and UDP, no signal to others, no change of limits.
fn a_confined_proxy_opens_nothing() {
    succeeds(|| {
        seccomp::confine_proxy().unwrap();
        let errno = |error: io::Error| error.raw_os_error().map(Errno::from_raw);
        for path in ["/etc/passwd", "/proc/self/mem", "/"] {
            assert_eq!(errno(File::open(path).unwrap_err()), Some(Errno::EACCES), "{path}");
        }
        assert_eq!(errno(File::create("/tmp/never").unwrap_err()), Some(Errno::EACCES));
        assert_eq!(errno(UnixStream::connect("/run/never").unwrap_err()), Some(Errno::EAFNOSUPPORT));
        assert_eq!(errno(Addresses::open().unwrap_err()), Some(Errno::EAFNOSUPPORT));
        assert_eq!(kill(getppid(), None), Err(Errno::EPERM));
        assert_eq!(kill(Pid::this(), Signal::SIGTERM), Err(Errno::EPERM));
        assert_eq!(setrlimit(Resource::RLIMIT_CORE, 0, 0), Err(Errno::EPERM));
        assert!(std::fs::remove_file("/tmp/never").is_err());
        assert!(std::fs::metadata("/etc/passwd").is_err());
    });
}

/// Programs, namespaces, mounts, other processes, executable pages: the first attempt is the last.
fn what_an_attacker_tries_ends_the_proxy() {
    let confined = || seccomp::confine_proxy().unwrap();
    is_ended_by_the_filter("a program", || {
        confined();
        let _ = Command::new("/bin/true").status();
    });
    is_ended_by_the_filter("execve", || {
        use std::os::unix::process::CommandExt;
        confined();
        let _ = Command::new("/bin/true").exec();
    });
    is_ended_by_the_filter("a namespace", || {
        confined();
        let _ = unshare(CloneFlags::CLONE_NEWUSER);
    });
    is_ended_by_the_filter("a trace", || {
        confined();
        let _ = ptrace::attach(getppid());
    });
    is_ended_by_the_filter("a mount", || {
        confined();
        let _ = nix::mount::umount("/");
    });
    is_ended_by_the_filter("new code", || {
        use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
        confined();
        let page = std::num::NonZeroUsize::new(4096).unwrap();
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that is there.
        let _ = unsafe {
            mmap_anonymous(None, page, ProtFlags::PROT_READ | ProtFlags::PROT_EXEC, MapFlags::MAP_PRIVATE)
        };
    });
}

/// A thread that was there before is confined as well.
fn threads_are_confined_with_the_process() {
    succeeds(|| {
        let (go, wait) = mpsc::channel();
        let older = thread::spawn(move || {
            wait.recv().unwrap();
            File::open("/etc/passwd").is_err()
        });
        seccomp::confine_proxy().unwrap();
        go.send(()).unwrap();
        assert!(older.join().unwrap());
    });
}

/// What ends a program that finds itself in an impossible state still does.
fn a_confined_proxy_can_abort() {
    let status = ended(|| {
        privileges::limit_proxy().unwrap();
        seccomp::confine_proxy().unwrap();
        std::process::abort();
    });
    assert!(matches!(status, WaitStatus::Signaled(_, Signal::SIGABRT, false)), "{status:?}");
}

fn a_confined_anchor_binds_and_starts_nothing() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    succeeds(move || {
        privileges::limit_anchor().unwrap();
        seccomp::confine_anchor().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        closedbook_kernel::descriptors::send(&theirs, &[std::os::fd::AsFd::as_fd(&listener)]).unwrap();
        assert!(File::open("/etc/passwd").is_err());
        assert_eq!(kill(getppid(), None), Err(Errno::EPERM));
    });
    let listener = TcpListener::from(closedbook_kernel::descriptors::receive(&ours).unwrap().pop().unwrap());
    assert!(listener.local_addr().unwrap().ip().is_loopback());
    for body in [
        (|| drop(Command::new("/bin/true").status())) as fn(),
        || drop(thread::Builder::new().spawn(|| {})),
        || {
            let _ = unshare(CloneFlags::CLONE_NEWNET);
        },
    ] {
        is_ended_by_the_filter("the anchor", || {
            seccomp::confine_anchor().unwrap();
            body();
        });
    }
}

/// Where the kernel has it. What was open before stays open.
fn landlock_takes_the_file_system() {
    succeeds(|| {
        let mut open = File::open("/etc/passwd").unwrap();
        if landlock::no_file_system() == Enforced::NotAtAll {
            eprintln!("=== NOT TESTED: this kernel has no Landlock ===");
            return;
        }
        assert!(File::open("/etc/passwd").is_err());
        assert!(std::fs::read_dir("/").is_err());
        assert!(File::create("/tmp/closedbook-never").is_err());
        let mut text = String::new();
        open.read_to_string(&mut text).unwrap();
        assert!(!text.is_empty());
        // A thread takes it over from the one that starts it.
        assert!(thread::spawn(|| File::open("/etc/passwd").is_err()).join().unwrap());
    });
}

/// None of it can be taken back.
fn limits_stay() {
    succeeds(|| {
        privileges::limit_anchor().unwrap();
        let never = [
            Resource::RLIMIT_CORE,
            Resource::RLIMIT_MEMLOCK,
            Resource::RLIMIT_MSGQUEUE,
            Resource::RLIMIT_NPROC,
        ];
        for resource in never {
            assert_eq!(getrlimit(resource).unwrap(), (0, 0), "{resource:?}");
            assert_eq!(setrlimit(resource, 1, 1), Err(Errno::EPERM), "{resource:?}");
        }
        assert!(getrlimit(Resource::RLIMIT_NOFILE).unwrap().1 <= 64);
    });
}
