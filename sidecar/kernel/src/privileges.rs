//! Giving up privilege for good (G17).

use caps::errors::CapsError;
use caps::{CapSet, Capability, CapsHashSet};
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use thiserror::Error;

use crate::idmap::NOBODY;

/// Why privilege could not be given up. The caller must end.
#[derive(Debug, Error)]
pub enum PrivilegeError {
    /// The user or group could not be changed.
    #[error("can't become nobody")]
    Identity(#[source] Errno),
    /// A capability set could not be emptied.
    #[error("can't give up capabilities")]
    Capabilities(#[source] CapsError),
    /// A capability set is not empty although emptying it succeeded.
    #[error("capabilities are still held: {0:?}")]
    StillHeld(CapsHashSet),
    /// prctl(2) itself.
    #[error("can't set no_new_privs or clear the dumpable flag")]
    Prctl(#[source] Errno),
}

/// Becomes the user that owns nothing. Needs CAP_SETUID and CAP_SETGID, and empties the bounding set while CAP_SETPCAP is
/// still there: a change of user takes the capabilities, and not the bound on what may be regained.
pub fn become_nobody() -> Result<(), PrivilegeError> {
    empty_bounding_set()?;
    let (uid, gid) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    setgroups(&[])
        .and_then(|()| setresgid(gid, gid, gid))
        .and_then(|()| setresuid(uid, uid, uid))
        .map_err(PrivilegeError::Identity)
}

/// Empties every capability set, forbids regaining any by execve(2), and forbids being traced or dumped by the user's
/// other processes. Checked by reading back.
pub fn drop_all() -> Result<(), PrivilegeError> {
    prctl::set_no_new_privs().map_err(PrivilegeError::Prctl)?;
    empty_bounding_set()?;
    for set in HELD {
        caps::clear(None, set).map_err(PrivilegeError::Capabilities)?;
    }
    for set in HELD {
        let held = caps::read(None, set).map_err(PrivilegeError::Capabilities)?;
        if !held.is_empty() {
            return Err(PrivilegeError::StillHeld(held));
        }
    }
    prctl::set_dumpable(false).map_err(PrivilegeError::Prctl)
}

/// Without CAP_SETPCAP the bounding set can't be reduced. no_new_privs makes it meaningless then, so it is left.
fn empty_bounding_set() -> Result<(), PrivilegeError> {
    match caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP) {
        Ok(true) => caps::clear(None, CapSet::Bounding).map_err(PrivilegeError::Capabilities),
        Ok(false) => Ok(()),
        Err(error) => Err(PrivilegeError::Capabilities(error)),
    }
}

/// Ambient first: it may hold nothing that the others lack.
const HELD: [CapSet; 4] = [CapSet::Ambient, CapSet::Inheritable, CapSet::Effective, CapSet::Permitted];

/// Lets this process open as many descriptors as the user may; the usual soft limit of 1024 is for select(2).
pub fn raise_descriptor_limit() -> Result<(), Errno> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
}

/// What a process that reads hostile bytes never needs: core dumps, which would put what it read on a disk; locked
/// memory; message queues. Files are not limited, since it writes a log, nor processes, whose count the user's other
/// processes share.
pub fn limit_proxy() -> Result<(), Errno> {
    NEVER.into_iter().try_for_each(|resource| setrlimit(resource, 0, 0))
}

/// Besides, for the anchor of the task's namespaces: no processes, and no more descriptors than what it holds and one
/// proxy's listeners.
pub fn limit_anchor() -> Result<(), Errno> {
    limit_proxy()?;
    setrlimit(Resource::RLIMIT_NPROC, 0, 0)?;
    setrlimit(Resource::RLIMIT_NOFILE, ANCHOR_DESCRIPTORS, ANCHOR_DESCRIPTORS)
}

const NEVER: [Resource; 3] = [Resource::RLIMIT_CORE, Resource::RLIMIT_MEMLOCK, Resource::RLIMIT_MSGQUEUE];

const ANCHOR_DESCRIPTORS: u64 = 64;

/// How many descriptors this process may open; the lowest possible answer if the kernel does not say.
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft)
}

/// Whether this process could change its user: the mark of a start by root, whatever namespace it is root of.
pub fn may_change_user() -> bool {
    [Capability::CAP_SETUID, Capability::CAP_SETGID]
        .into_iter()
        .all(|cap| caps::has_cap(None, CapSet::Effective, cap).unwrap_or(false))
}
