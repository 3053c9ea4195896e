//! What a process in new mount, pid and user namespaces must not see of the host.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use thiserror::Error;

use crate::mountinfo::{self, Mount};

/// Which step failed.
#[derive(Debug, Error)]
pub enum MountError {
    /// Mounts of the new namespace would spread to the host's.
    #[error("can't make the mount namespace private")]
    Private(#[source] Errno),
    /// The new pid namespace needs its own `/proc`; the kernel denies it where the old one is partly covered.
    #[error("can't mount a new /proc")]
    Proc(#[source] Errno),
    /// The mount table can't be read or understood.
    #[error("can't read /proc/self/mountinfo")]
    Table(#[source] io::Error),
    /// A kernel file system could not be made read-only.
    #[error("can't make {path} read-only")]
    ReadOnly {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: Errno,
    },
    /// A socket could not be covered.
    #[error("can't hide {path}")]
    Hide {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: Errno,
    },
    /// The empty file that covers others could not be made.
    #[error("can't make an empty file to hide others with")]
    Cover(#[source] io::Error),
}

/// Cuts this mount namespace off from the one it was copied from: what is mounted here stays here.
///
/// The other direction goes on (a slave mount), so a disk that the user plugs in still appears.
pub fn make_private() -> Result<(), MountError> {
    change("/", MsFlags::MS_REC | MsFlags::MS_SLAVE).map_err(MountError::Private)
}

/// Puts the new pid namespace's own `/proc` over every old one, with the parts that act on the whole kernel read-only.
///
/// Without that, root in a user namespace still owns `/proc/sys` of the host: a program named in
/// `kernel.core_pattern` is started by the kernel outside of every namespace.
pub fn fresh_proc() -> Result<(), MountError> {
    let old = table()?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, None::<&str>).map_err(MountError::Proc)?;
    for part in ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"] {
        let part = Path::new(part);
        if part.exists() {
            bind(part, part).map_err(|source| MountError::ReadOnly { path: part.to_owned(), source })?;
            make_read_only(part, flags)?;
        }
    }
    // Other copies of the host's /proc, as in a prepared root folder.
    for elsewhere in old.iter().filter(|m| m.kind == "proc" && m.point != Path::new("/proc")) {
        if elsewhere.root == Path::new("/")
            && elsewhere.point.is_dir()
            && !elsewhere.point.starts_with("/proc")
        {
            bind_all(Path::new("/proc"), &elsewhere.point)
                .map_err(|source| MountError::Hide { path: elsewhere.point.clone(), source })?;
        }
    }
    Ok(())
}

/// Makes the kernel's other file systems read-only wherever they are mounted: they hold `uevent_helper`, cgroup
/// `release_agent` and the like, which also start programs outside.
pub fn kernel_file_systems_read_only() -> Result<(), MountError> {
    const KERNEL: &[&str] = &[
        "sysfs",
        "cgroup",
        "cgroup2",
        "debugfs",
        "tracefs",
        "securityfs",
        "bpf",
        "configfs",
        "efivarfs",
        "fusectl",
        "pstore",
        "binfmt_misc",
    ];
    for m in table()?.iter().filter(|m| KERNEL.contains(&m.kind.as_str())) {
        match make_read_only(&m.point, kept_flags(&m.options)) {
            // Covered by a later mount, or below a folder that this user can't enter: out of reach anyway.
            Err(MountError::ReadOnly { source: Errno::EINVAL | Errno::ENOENT | Errno::EACCES, .. }) => {}
            done => done?,
        }
    }
    Ok(())
}

/// Covers sockets, at every path under which they are visible, by an empty file that nobody may open; folders by an
/// empty one, with whatever is made in them later; and regular files by an empty one that may be read.
///
/// `connect(2)` then answers ECONNREFUSED at once. A cover can't be taken off from a user namespace below this one, and what is
/// covered can be neither removed nor renamed there. Renamed from outside, it takes its cover along; what is made anew at
/// its old name has none.
pub fn hide(hidden: &[PathBuf]) -> Result<(), MountError> {
    let mounts = table()?;
    let cover = Cover::make()?;
    let aliases = hidden.iter().flat_map(|path| mountinfo::aliases(&mounts, path));
    // Each path once: a second mount there would be on top of the cover itself, whose name could not go any more.
    let paths: BTreeSet<PathBuf> = hidden.iter().cloned().chain(aliases).collect();
    for path in paths {
        let cover = match fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => &cover.folder,
            Ok(meta) if meta.is_file() => &cover.blank,
            _ => &cover.file,
        };
        match bind(cover, &path) {
            Ok(()) => {}
            // Gone in the meantime, or an alias that this user can't reach.
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::EACCES) if !path.exists() => {}
            Err(source) => return Err(MountError::Hide { path, source }),
        }
    }
    Ok(())
}

/// An empty file and an empty folder, out of bounds, and an empty file to be read: programs that look through all files of a
/// folder are not held up by it. They lie in memory, so nothing is left of them whatever ends this process, and little can be
/// written to them by who may: root. (Read-only, they would answer connect(2) with EROFS.)
struct Cover {
    file: PathBuf,
    blank: PathBuf,
    folder: PathBuf,
}

impl Cover {
    /// Where they lie while they are used: a folder that every host has, and that holds nothing to be covered.
    const PLACE: &str = "/proc";

    fn make() -> Result<Self, MountError> {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let options = Some("size=64k,nr_inodes=16,mode=0755");
        mount(Some("tmpfs"), Self::PLACE, Some("tmpfs"), flags, options)
            .map_err(|error| MountError::Cover(error.into()))?;
        let path = |kind| Path::new(Self::PLACE).join(kind);
        let cover = Self { file: path("file"), blank: path("blank"), folder: path("folder") };
        let make =
            |path: &Path, mode| File::create_new(path)?.set_permissions(fs::Permissions::from_mode(mode));
        make(&cover.file, 0o0)
            .and_then(|()| make(&cover.blank, 0o444))
            .and_then(|()| DirBuilder::new().mode(0o0).create(&cover.folder))
            .map_err(MountError::Cover)?;
        Ok(cover)
    }
}

impl Drop for Cover {
    fn drop(&mut self) {
        // The mounts of its files keep it alive. Left, it would hide the namespace's own /proc, which opens nothing.
        let _ = umount2(Self::PLACE, MntFlags::MNT_DETACH);
    }
}

fn table() -> Result<Vec<Mount>, MountError> {
    let bytes = fs::read("/proc/self/mountinfo").map_err(MountError::Table)?;
    mountinfo::parse(&bytes).ok_or_else(|| {
        MountError::Table(io::Error::new(io::ErrorKind::InvalidData, "not of the documented form"))
    })
}

/// A bind mount's options are changed by a remount that repeats those to keep; the kernel has locked them.
fn make_read_only(path: &Path, keep: MsFlags) -> Result<(), MountError> {
    change(path, MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | keep)
        .map_err(|source| MountError::ReadOnly { path: path.to_owned(), source })
}

fn kept_flags(options: &[String]) -> MsFlags {
    const FLAGS: &[(&str, MsFlags)] = &[
        ("nosuid", MsFlags::MS_NOSUID),
        ("nodev", MsFlags::MS_NODEV),
        ("noexec", MsFlags::MS_NOEXEC),
        ("noatime", MsFlags::MS_NOATIME),
        ("nodiratime", MsFlags::MS_NODIRATIME),
        ("relatime", MsFlags::MS_RELATIME),
    ];
    FLAGS
        .iter()
        .filter(|(word, _)| options.iter().any(|o| o == word))
        .fold(MsFlags::empty(), |all, (_, flag)| all | *flag)
}

fn bind(what: &Path, over: &Path) -> Result<(), Errno> {
    mount(Some(what), over, None::<&OsStr>, MsFlags::MS_BIND, None::<&OsStr>)
}

fn bind_all(what: &Path, over: &Path) -> Result<(), Errno> {
    mount(Some(what), over, None::<&OsStr>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&OsStr>)
}

fn change(path: impl AsRef<Path>, flags: MsFlags) -> Result<(), Errno> {
    mount(None::<&OsStr>, path.as_ref(), None::<&OsStr>, flags, None::<&OsStr>)
}
