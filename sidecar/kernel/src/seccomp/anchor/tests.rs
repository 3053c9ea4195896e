//! G17: the anchor's filter, run instruction by instruction on made-up system calls.

use std::sync::OnceLock;

use super::super::machine::{self, ALLOWED, KILLED, refused};
use super::*;

const PID: u32 = 1;
#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;

fn run(call: Call, arguments: [u64; 6]) -> u32 {
    static FILTER: OnceLock<Vec<Instruction>> = OnceLock::new();
    machine::run(FILTER.get_or_init(|| anchor_filter(PID)), NATIVE, call as u32, arguments)
}

#[test]
fn nothing_passes_that_is_not_named() {
    let named: Vec<Call> = [MEMORY_AND_TIME, CONVERSATION].concat();
    let by_argument = [
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_fcntl,
        libc::SYS_ioctl,
        libc::SYS_prlimit64,
        libc::SYS_tgkill,
        libc::SYS_socket,
        libc::SYS_setsockopt,
    ];
    for call in (0..1024).filter(|call| !by_argument.contains(call)) {
        for arguments in [[0; 6], [1; 6], [u64::MAX; 6]] {
            assert_eq!(run(call, arguments) == ALLOWED, named.contains(&call), "call {call}");
        }
    }
}

/// It has no capability; with one it could not change rules either: no netlink, no other namespace, no program, and not
/// even a thread.
#[test]
fn nothing_that_could_open_the_namespace() {
    let netlink = [libc::AF_NETLINK as u64, libc::SOCK_RAW as u64, libc::NETLINK_NETFILTER as u64, 0, 0, 0];
    assert_eq!(run(libc::SYS_socket, netlink), refused(libc::EAFNOSUPPORT));
    for call in [libc::SYS_setns, libc::SYS_unshare, libc::SYS_execve, libc::SYS_mount, libc::SYS_ptrace] {
        assert_eq!(run(call, [0; 6]), KILLED, "call {call}");
    }
    let thread = (libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD) as u64;
    assert_eq!(run(libc::SYS_clone, [thread, 0, 0, 0, 0, 0]), KILLED);
    assert_eq!(run(libc::SYS_clone3, [0; 6]), refused(libc::ENOSYS));
}

/// As process 1 of its pid namespace it could signal every process of the task by number; it does so by pidfd alone.
#[test]
fn signals_go_by_pidfd() {
    assert_eq!(run(libc::SYS_pidfd_send_signal, [5, 15, 0, 0, 0, 0]), ALLOWED);
    assert_eq!(run(libc::SYS_pidfd_open, [2, 0, 0, 0, 0, 0]), refused(libc::ENOSYS));
    assert_eq!(run(libc::SYS_kill, [(-1_i64).cast_unsigned(), 9, 0, 0, 0, 0]), refused(libc::EPERM));
}
