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

/// Becomes the user that owns nothing. Needs CAP_SETUID and CAP_SETGID.
pub fn become_nobody() -> Result<(), PrivilegeError> {
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
    // Without CAP_SETPCAP the bounding set can't be reduced. no_new_privs makes it meaningless then, so it is left.
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP)
        .map_err(PrivilegeError::Capabilities)?
    {
        caps::clear(None, CapSet::Bounding).map_err(PrivilegeError::Capabilities)?;
    }
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

/// Ambient first: it may hold nothing that the others lack.
const HELD: [CapSet; 4] = [CapSet::Ambient, CapSet::Inheritable, CapSet::Effective, CapSet::Permitted];

/// Lets this process open as many descriptors as the user may; the usual soft limit of 1024 is for select(2).
pub fn raise_descriptor_limit() -> Result<(), Errno> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
}

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
