//! The filter of the task.
//!
//! Three things lead out of a network namespace although it has no uplink:
//! - sockets of families that know no namespaces (AF_VSOCK reaches the hypervisor's host, AF_BLUETOOTH a radio);
//! - io_uring, which makes sockets without a system call that a filter could see;
//! - TIOCSTI and TIOCLINUX, which type into the user's own terminal, so that the user's shell runs the line later.
//!
//! Everything else is the kernel's business, so the filter is short and allows by default.

use super::instruction::{
    ARCHITECTURE, Instruction, NUMBER, X32, X86_64, allow, argument, jump_at_least, jump_equal, kill, load,
    refuse,
};

/// The socket families a task may use. Each is bound to the network namespace or to the file system.
const FAMILIES: [libc::c_int; 5] =
    [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET];

/// `TIOCSTI` and `TIOCLINUX` (ioctl_tty(2)).
const TYPING: [u32; 2] = [0x5412, 0x541c];

/// The numbers of the system calls that matter, for one instruction set.
struct Calls {
    architecture: u32,
    socket: u32,
    ioctl: u32,
    io_uring_setup: u32,
    /// The old multiplexer of i386, whose arguments a filter can't read; its users have had `socket` since Linux 4.3.
    socketcall: Option<u32>,
}

#[cfg(target_arch = "x86_64")]
const TABLES: &[Calls] = &[
    Calls { architecture: X86_64, socket: 41, ioctl: 16, io_uring_setup: 425, socketcall: None },
    Calls { architecture: 0x4000_0003, socket: 359, ioctl: 54, io_uring_setup: 425, socketcall: Some(102) },
];
#[cfg(target_arch = "aarch64")]
const TABLES: &[Calls] = &[
    Calls {
        architecture: super::instruction::AARCH64,
        socket: 198,
        ioctl: 29,
        io_uring_setup: 425,
        socketcall: None,
    },
    Calls { architecture: 0x4000_0028, socket: 281, ioctl: 54, io_uring_setup: 425, socketcall: Some(102) },
];

/// The task's filter, as a value.
pub fn task_filter() -> Vec<Instruction> {
    let mut program = vec![load(ARCHITECTURE)];
    for calls in TABLES {
        let body = body(calls);
        // A jump's distance is one byte; the bodies are about thirty instructions long.
        let length = u8::try_from(body.len()).unwrap_or(u8::MAX);
        program.push(jump_equal(calls.architecture, 0, length));
        program.extend(body);
    }
    // An instruction set without a table: nothing is known of its numbers.
    program.push(kill());
    program
}

fn body(calls: &Calls) -> Vec<Instruction> {
    let mut body = vec![load(NUMBER)];
    // The users of x32 can't be told otherwise.
    if calls.architecture == X86_64 {
        body.extend([jump_at_least(X32, 0, 1), refuse(libc::ENOSYS)]);
    }
    body.extend([jump_equal(calls.io_uring_setup, 0, 1), refuse(libc::ENOSYS)]);
    if let Some(socketcall) = calls.socketcall {
        body.extend([jump_equal(socketcall, 0, 1), refuse(libc::ENOSYS)]);
    }
    let families = FAMILIES.map(|family| jump_equal(family as u32, 0, 1));
    body.push(jump_equal(calls.socket, 0, 2 + 2 * FAMILIES.len() as u8));
    body.push(load(argument(0)));
    for family in families {
        body.extend([family, allow()]);
    }
    body.push(refuse(libc::EAFNOSUPPORT));
    body.push(jump_equal(calls.ioctl, 0, 1 + 2 * TYPING.len() as u8));
    body.push(load(argument(1)));
    for request in TYPING {
        body.extend([jump_equal(request, 0, 1), refuse(libc::EPERM)]);
    }
    body.push(allow());
    body
}

#[cfg(test)]
mod tests;
