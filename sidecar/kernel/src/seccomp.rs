//! System-call filters (seccomp(2)): what namespaces and capabilities don't cover.
//!
//! Three processes have one. The [task's](task_filter) allows by default and closes the ways out of a network namespace;
//! those of the [proxy](proxy_filter), which reads hostile bytes, and of the [anchor](anchor_filter) of the task's
//! namespaces allow what these two programs do and nothing else (G17).
//!
//! Each filter is a plain value: what it does is tested instruction by instruction.

mod allowlist;
mod anchor;
mod instruction;
mod proxy;
mod task;

#[cfg(test)]
mod machine;

use nix::errno::Errno;

pub use anchor::anchor_filter;
pub use instruction::Instruction;
pub use proxy::proxy_filter;
pub use task::task_filter;

/// Puts the task's filter on this thread and all that it starts. Needs CAP_SYS_ADMIN in the own user namespace, so that
/// no_new_privs, which would break `su` and `sudo` for a task that is root, can stay off.
pub fn confine_task() -> Result<(), Errno> {
    apply(&task_filter(), 0)
}

/// Puts the proxy's filter on every thread of this process, for good. Needs no_new_privs.
pub fn confine_proxy() -> Result<(), Errno> {
    apply(&proxy_filter(std::process::id()), libc::SECCOMP_FILTER_FLAG_TSYNC)
}

/// Puts the anchor's filter on every thread of this process, for good. Needs no_new_privs.
pub fn confine_anchor() -> Result<(), Errno> {
    apply(&anchor_filter(std::process::id()), libc::SECCOMP_FILTER_FLAG_TSYNC)
}

fn apply(program: &[Instruction], flags: libc::c_ulong) -> Result<(), Errno> {
    let length = u16::try_from(program.len()).map_err(|_| Errno::EINVAL)?;
    let header = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel reads `len` instructions from `filter`, both of which live until the call returns, and
    // writes nothing.
    let done =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const header) };
    match Errno::result(done)? {
        0 => Ok(()),
        // With TSYNC: the id of a thread that has a filter of its own, and nothing was done.
        _ => Err(Errno::EBUSY),
    }
}
