//! G17: the proxy's filter, run instruction by instruction on made-up system calls.

use std::sync::OnceLock;

use super::super::allowlist::Call;
use super::super::machine::{self, ALLOWED, KILLED, refused};
use super::*;

const PID: u32 = 4711;
#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;

fn run(call: Call, arguments: [u64; 6]) -> u32 {
    static FILTER: OnceLock<Vec<Instruction>> = OnceLock::new();
    machine::run(FILTER.get_or_init(|| proxy_filter(PID)), NATIVE, call as u32, arguments)
}

/// Whatever is not named is refused, whatever its arguments; no number is allowed by chance.
#[test]
fn nothing_passes_that_is_not_named() {
    let named: Vec<Call> = [MEMORY_AND_TIME, TRANSFER, THREADS].concat();
    let by_argument = [
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_fcntl,
        libc::SYS_ioctl,
        libc::SYS_prlimit64,
        libc::SYS_tgkill,
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_setsockopt,
        libc::SYS_clone,
    ];
    for call in 0..1024 {
        let expected = named.contains(&call);
        if by_argument.contains(&call) {
            continue;
        }
        for arguments in [[0; 6], [1; 6], [u64::MAX; 6]] {
            assert_eq!(run(call, arguments) == ALLOWED, expected, "call {call} with {arguments:?}");
        }
    }
}

/// No program is started, nothing of the machine is changed, no other process is looked into: whoever tries is ended.
#[test]
fn what_only_an_attacker_calls_ends_the_process() {
    for call in [
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_ptrace,
        libc::SYS_bpf,
        libc::SYS_mount,
        libc::SYS_setns,
        libc::SYS_unshare,
        libc::SYS_io_uring_setup,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
    ] {
        assert_eq!(run(call, [0; 6]), KILLED, "call {call}");
    }
    // fork(2) by clone(2), and a thread that leaves for a namespace of its own.
    assert_eq!(run(libc::SYS_clone, [libc::SIGCHLD as u64, 0, 0, 0, 0, 0]), KILLED);
    let thread = (libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD | libc::CLONE_SETTLS) as u64;
    assert_eq!(run(libc::SYS_clone, [thread, 0, 0, 0, 0, 0]), ALLOWED);
    assert_eq!(run(libc::SYS_clone, [thread | libc::CLONE_NEWUSER as u64, 0, 0, 0, 0, 0]), KILLED);
    // Arguments that a filter can't see.
    assert_eq!(run(libc::SYS_clone3, [0; 6]), refused(libc::ENOSYS));
}

/// Another instruction set has other numbers.
#[test]
fn only_the_programs_own_instruction_set() {
    for other in [0x4000_0003, 0x4000_0028, 0xdead_beef] {
        assert_eq!(machine::run(&proxy_filter(PID), other, libc::SYS_read as u32, [0; 6]), KILLED);
    }
    #[cfg(target_arch = "x86_64")]
    assert_eq!(run(0x4000_0000 | libc::SYS_read, [0; 6]), KILLED);
}

/// Sockets are TCP and UDP over IP.
#[test]
fn sockets_are_tcp_and_udp() {
    let flags = [0, libc::SOCK_CLOEXEC, libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK];
    for family in 0..64 {
        for kind in 0..16 {
            for protocol in [0, 1, 6, 17, 58, 132, 255, 262] {
                let right = [libc::AF_INET, libc::AF_INET6].contains(&family)
                    && ((kind == libc::SOCK_STREAM && [0, 6].contains(&protocol))
                        || (kind == libc::SOCK_DGRAM && [0, 17].contains(&protocol)));
                let expected = if right { ALLOWED } else { refused(libc::EAFNOSUPPORT) };
                for flag in flags {
                    let arguments = [family as u64, (kind | flag) as u64, protocol as u64, 0, 0, 0];
                    assert_eq!(run(libc::SYS_socket, arguments), expected, "{arguments:?}");
                }
            }
        }
    }
    let pair = |family: libc::c_int| run(libc::SYS_socketpair, [family as u64, 1, 0, 0, 0, 0]);
    assert_eq!((pair(libc::AF_UNIX), pair(libc::AF_TIPC)), (ALLOWED, refused(libc::EAFNOSUPPORT)));
}

/// No page becomes executable, nothing is opened.
#[test]
fn no_new_code_and_no_files() {
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        assert_eq!(run(call, [0, 4096, (libc::PROT_READ | libc::PROT_WRITE) as u64, 0, 0, 0]), ALLOWED);
        assert_eq!(run(call, [0, 4096, (libc::PROT_READ | libc::PROT_EXEC) as u64, 0, 0, 0]), KILLED);
    }
    for flags in [libc::O_RDONLY, libc::O_WRONLY | libc::O_CREAT, libc::O_PATH] {
        assert_eq!(run(libc::SYS_openat, [0, 0, flags as u64, 0, 0, 0]), refused(libc::EACCES));
    }
    for call in [libc::SYS_unlinkat, libc::SYS_renameat2, libc::SYS_memfd_create, libc::SYS_openat2] {
        assert_eq!(run(call, [0; 6]), refused(libc::ENOSYS));
    }
}

/// Signals reach this process alone: abort(3) works, nothing else.
#[test]
fn no_signals_to_others() {
    assert_eq!(run(libc::SYS_tgkill, [PID.into(), 1, 6, 0, 0, 0]), ALLOWED);
    assert_eq!(run(libc::SYS_tgkill, [1, 1, 9, 0, 0, 0]), refused(libc::EPERM));
    assert_eq!(run(libc::SYS_kill, [PID.into(), 9, 0, 0, 0, 0]), refused(libc::EPERM));
    assert_eq!(run(libc::SYS_fcntl, [0, libc::F_SETOWN as u64, 1, 0, 0, 0]), refused(libc::EPERM));
    assert_eq!(run(libc::SYS_fcntl, [0, libc::F_SETFL as u64, 0, 0, 0, 0]), ALLOWED);
}

/// A limit is read and not set; the pointer is looked at whole.
#[test]
fn limits_are_only_read() {
    let limit = |pid: u64, new: u64| run(libc::SYS_prlimit64, [pid, 7, new, 1, 0, 0]);
    assert_eq!(limit(0, 0), ALLOWED);
    for (pid, new) in [(0, 1), (0, 1 << 32), (1, 0)] {
        assert_eq!(limit(pid, new), refused(libc::EPERM), "{pid} {new:#x}");
    }
}

/// Options and requests that are not named fail, each level by itself.
#[test]
fn options_by_level() {
    let set = |level: libc::c_int, name: libc::c_int| {
        run(libc::SYS_setsockopt, [3, level as u64, name as u64, 0, 0, 0])
    };
    assert_eq!(set(libc::SOL_SOCKET, libc::SO_LINGER), ALLOWED);
    assert_eq!(set(libc::IPPROTO_TCP, libc::TCP_NODELAY), ALLOWED);
    for (level, name) in [
        (libc::SOL_SOCKET, libc::SO_MARK),
        (libc::SOL_SOCKET, libc::SO_BINDTODEVICE),
        (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER),
        (libc::SOL_SOCKET, libc::SO_REUSEPORT),
        (libc::IPPROTO_IP, libc::TCP_NODELAY),
        (libc::IPPROTO_IP, libc::IP_TRANSPARENT),
    ] {
        assert_eq!(set(level, name), refused(libc::EPERM), "{level} {name}");
    }
    let request = |request: u64| run(libc::SYS_ioctl, [3, request, 0, 0, 0, 0]);
    assert_eq!(request(libc::FIONBIO), ALLOWED);
    assert_eq!(request(0x5412), refused(libc::ENOTTY), "TIOCSTI");
}
