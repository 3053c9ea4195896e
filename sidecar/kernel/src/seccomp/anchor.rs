//! The filter of the process that stays in the task's namespaces as their anchor, when it has prepared them and dropped
//! its capabilities (G17).
//!
//! It waits for children and messages, passes signals on by the one pidfd it has, and binds listeners for the next proxy.

use super::allowlist::{Allowlist, Call, Otherwise, Rule};
use super::instruction::Instruction;
use super::proxy::{MEMORY_AND_TIME, common_rules, fatal, socket, socket_options};

/// The anchor's filter, as a value.
pub fn anchor_filter(own_pid: u32) -> Vec<Instruction> {
    let mut free = MEMORY_AND_TIME.to_vec();
    free.extend_from_slice(CONVERSATION);
    let mut ruled = common_rules(own_pid);
    ruled.extend([
        socket(),
        socket_options(OPTIONS),
        // It starts nothing any more.
        Rule { call: libc::SYS_clone, when: Vec::new(), otherwise: Otherwise::Kills },
    ]);
    Allowlist { free, ruled, fatal: fatal() }.assemble()
}

/// Waiting for children, messages, and the sockets it binds.
const CONVERSATION: &[Call] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_pidfd_send_signal,
    libc::SYS_close,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_listen,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
];

/// What the listeners and the self-test set.
const OPTIONS: &[(libc::c_int, &[libc::c_int])] = &[
    (libc::SOL_SOCKET, &[libc::SO_REUSEADDR, libc::SO_RCVTIMEO, libc::SO_SNDTIMEO, libc::SO_LINGER]),
    (libc::IPPROTO_IPV6, &[libc::IPV6_V6ONLY]),
];

#[cfg(test)]
mod tests;
