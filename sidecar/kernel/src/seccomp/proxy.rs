//! The filter of the process that reads hostile bytes (G17).
//!
//! By the time it is set, everything is open: the listeners, the log, what is known of the machine's addresses and
//! resolvers. So there is no opening of files in it, no starting of programs, no new socket but TCP and UDP over IP, no
//! signal to another process, and no new executable page.

use super::allowlist::{Allowlist, Call, Check, Otherwise, Rule};
use super::instruction::Instruction;

/// The proxy's filter, as a value. Its own process id is that of which it may signal itself: abort(3) does.
pub fn proxy_filter(own_pid: u32) -> Vec<Instruction> {
    let mut free = MEMORY_AND_TIME.to_vec();
    free.extend_from_slice(TRANSFER);
    free.extend_from_slice(THREADS);
    let mut ruled = common_rules(own_pid);
    ruled.extend([threads_alone(), socket_options(OPTIONS), socket(), pair_for_signals()]);
    Allowlist { free, ruled, fatal: fatal() }.assemble()
}

/// Memory (but for executable pages, see [`common_rules`]), clocks, random numbers, the end.
pub(super) const MEMORY_AND_TIME: &[Call] = &[
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getrusage,
    libc::SYS_futex,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Waiting, reading and writing on what is open, and what makes a socket useful.
const TRANSFER: &[Call] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_ppoll,
    libc::SYS_eventfd2,
    libc::SYS_pipe2,
    libc::SYS_splice,
    libc::SYS_close,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    // Of the one folder that is open: in it the process counts its own descriptors.
    libc::SYS_getdents64,
    libc::SYS_fstat,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_listen,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
];

/// The runtime's own threads.
const THREADS: &[Call] =
    &[libc::SYS_set_robust_list, libc::SYS_rseq, libc::SYS_sched_yield, libc::SYS_sched_getaffinity];

/// The options that this program and its libraries set.
const OPTIONS: &[(libc::c_int, &[libc::c_int])] = &[
    (
        libc::SOL_SOCKET,
        &[
            libc::SO_LINGER,
            libc::SO_KEEPALIVE,
            libc::SO_REUSEADDR,
            libc::SO_BROADCAST,
            libc::SO_RCVBUF,
            libc::SO_SNDBUF,
        ],
    ),
    (libc::IPPROTO_TCP, &[libc::TCP_NODELAY, libc::TCP_KEEPIDLE, libc::TCP_KEEPINTVL, libc::TCP_KEEPCNT]),
    (libc::IPPROTO_IPV6, &[libc::IPV6_V6ONLY]),
];

/// What both allowlists look at more closely.
pub(super) fn common_rules(own_pid: u32) -> Vec<Rule> {
    let not_executable = |call| {
        let check = Check::Bits { argument: 2, mask: libc::PROT_EXEC, has: 0 };
        Rule::all_of(call, &[check], Otherwise::Kills)
    };
    vec![
        not_executable(libc::SYS_mmap),
        not_executable(libc::SYS_mprotect),
        // No F_SETOWN and F_SETSIG, which make the kernel send signals.
        Rule::one_of(
            libc::SYS_fcntl,
            1,
            &[
                libc::F_DUPFD_CLOEXEC,
                libc::F_GETFD,
                libc::F_SETFD,
                libc::F_GETFL,
                libc::F_SETFL,
                libc::F_SETPIPE_SZ,
                libc::F_GETPIPE_SZ,
            ],
            Otherwise::Fails(libc::EPERM),
        ),
        Rule::one_of(
            libc::SYS_ioctl,
            1,
            &[libc::FIONBIO as libc::c_int, libc::FIONREAD as libc::c_int, libc::TIOCOUTQ as libc::c_int],
            Otherwise::Fails(libc::ENOTTY),
        ),
        // Limits are read, its own, and set no more.
        Rule::all_of(libc::SYS_prlimit64, &[Check::Is(0, 0), Check::Null(2)], Otherwise::Fails(libc::EPERM)),
        // A pid is positive and fits.
        Rule::all_of(libc::SYS_tgkill, &[Check::Is(0, own_pid.cast_signed())], Otherwise::Fails(libc::EPERM)),
        Rule::never(libc::SYS_kill, libc::EPERM),
        Rule::never(libc::SYS_tkill, libc::EPERM),
        Rule::never(libc::SYS_openat, libc::EACCES),
        #[cfg(target_arch = "x86_64")]
        Rule::never(libc::SYS_open, libc::EACCES),
    ]
}

/// TCP and UDP over IP, and no other protocol: no raw sockets, no ICMP ones, no netlink, no way to unix sockets.
pub(super) fn socket() -> Rule {
    let kind = |family, kind, protocol| {
        vec![
            Check::Is(0, family),
            Check::Bits { argument: 1, mask: !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC), has: kind },
            Check::Is(2, protocol),
        ]
    };
    let when = [libc::AF_INET, libc::AF_INET6]
        .into_iter()
        .flat_map(|family| {
            [
                kind(family, libc::SOCK_STREAM, 0),
                kind(family, libc::SOCK_STREAM, libc::IPPROTO_TCP),
                kind(family, libc::SOCK_DGRAM, 0),
                kind(family, libc::SOCK_DGRAM, libc::IPPROTO_UDP),
            ]
        })
        .collect();
    Rule { call: libc::SYS_socket, when, otherwise: Otherwise::Fails(libc::EAFNOSUPPORT) }
}

/// The options that may be set, by level.
pub(super) fn socket_options(options: &[(libc::c_int, &[libc::c_int])]) -> Rule {
    let when = options
        .iter()
        .flat_map(|(level, names)| {
            names.iter().map(|name| vec![Check::Is(1, *level), Check::Is(2, *name)]).collect::<Vec<_>>()
        })
        .collect();
    Rule { call: libc::SYS_setsockopt, when, otherwise: Otherwise::Fails(libc::EPERM) }
}

/// Both ends are the caller's own: the runtime wakes itself by one when a signal comes.
fn pair_for_signals() -> Rule {
    Rule::one_of(libc::SYS_socketpair, 0, &[libc::AF_UNIX], Otherwise::Fails(libc::EAFNOSUPPORT))
}

/// New threads of this process, and nothing else that clone(2) does. The C library tries clone3(2) first, whose
/// arguments a filter can't see, and takes ENOSYS as a reason to use this one.
fn threads_alone() -> Rule {
    const SHARED: libc::c_int = libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    const APART: libc::c_int = libc::CLONE_NEWNS
        | libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_VFORK
        | libc::CLONE_PTRACE;
    Rule::all_of(
        libc::SYS_clone,
        &[Check::Bits { argument: 0, mask: SHARED | APART, has: SHARED }],
        Otherwise::Kills,
    )
}

/// What neither of closedbook's own confined processes ever calls.
pub(super) fn fatal() -> Vec<Call> {
    let mut fatal = vec![
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
        libc::SYS_kcmp,
        libc::SYS_setns,
        libc::SYS_unshare,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_move_mount,
        libc::SYS_open_tree,
        libc::SYS_fsopen,
        libc::SYS_fsmount,
        libc::SYS_mount_setattr,
        libc::SYS_open_by_handle_at,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_kexec_load,
        libc::SYS_setuid,
        libc::SYS_setgid,
        libc::SYS_setresuid,
        libc::SYS_setresgid,
        libc::SYS_setgroups,
    ];
    #[cfg(target_arch = "x86_64")]
    fatal.extend([libc::SYS_fork, libc::SYS_vfork, libc::SYS_iopl, libc::SYS_ioperm]);
    fatal
}

#[cfg(test)]
mod tests;
