//! The system-call filter of the task (seccomp(2)): what namespaces don't cover.
//!
//! Three things lead out of a network namespace although it has no uplink:
//! - sockets of families that know no namespaces (AF_VSOCK reaches the hypervisor's host, AF_BLUETOOTH a radio);
//! - io_uring, which makes sockets without a system call that a filter could see;
//! - TIOCSTI and TIOCLINUX, which type into the user's own terminal, so that the user's shell runs the line later.
//!
//! Everything else is the kernel's business, so the filter is short and allows by default.

use nix::errno::Errno;

/// One instruction of a classic BPF program.
pub type Instruction = libc::sock_filter;

/// Puts the task's filter on this thread and all that it starts. Needs CAP_SYS_ADMIN in the own user namespace, so that
/// no_new_privs, which would break `su` and `sudo` for a task that is root, can stay off.
pub fn confine_task() -> Result<(), Errno> {
    let program = task_filter();
    let length = u16::try_from(program.len()).map_err(|_| Errno::EINVAL)?;
    let header = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel reads `len` instructions from `filter`, both of which live until the call returns, and
    // writes nothing.
    let done =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const header) };
    Errno::result(done).map(drop)
}

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
    Calls { architecture: 0xc000_003e, socket: 41, ioctl: 16, io_uring_setup: 425, socketcall: None },
    Calls { architecture: 0x4000_0003, socket: 359, ioctl: 54, io_uring_setup: 425, socketcall: Some(102) },
];
#[cfg(target_arch = "aarch64")]
const TABLES: &[Calls] = &[
    Calls { architecture: 0xc000_00b7, socket: 198, ioctl: 29, io_uring_setup: 425, socketcall: None },
    Calls { architecture: 0x4000_0028, socket: 281, ioctl: 54, io_uring_setup: 425, socketcall: Some(102) },
];

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The lower half of an argument on the little-endian machines that are supported.
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// The filter, as a value: what it does is tested instruction by instruction.
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
    program.push(answer(libc::SECCOMP_RET_KILL_PROCESS));
    program
}

fn body(calls: &Calls) -> Vec<Instruction> {
    let mut body = vec![load(NUMBER)];
    // x32 shares the architecture of x86-64 and sets bit 30 of the number; its users can't be told otherwise.
    if calls.architecture == 0xc000_003e {
        body.extend([jump_at_least(0x4000_0000, 0, 1), refuse(libc::ENOSYS)]);
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

fn load(offset: u32) -> Instruction {
    Instruction { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

fn jump_equal(value: u32, then: u8, otherwise: u8) -> Instruction {
    Instruction {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: then,
        jf: otherwise,
        k: value,
    }
}

fn jump_at_least(value: u32, then: u8, otherwise: u8) -> Instruction {
    Instruction {
        code: (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16,
        jt: then,
        jf: otherwise,
        k: value,
    }
}

fn answer(action: u32) -> Instruction {
    Instruction { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: action }
}

fn allow() -> Instruction {
    answer(libc::SECCOMP_RET_ALLOW)
}

fn refuse(errno: libc::c_int) -> Instruction {
    answer(libc::SECCOMP_RET_ERRNO | errno as u32)
}

#[cfg(test)]
mod tests;
