//! What this process takes, from /proc.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use nix::dir::Dir;
use nix::fcntl::OFlag;
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::stat::Mode;
use nix::unistd::{SysconfVar, sysconf};

/// Opened at the start: later this process may see no file system, or have no descriptor left.
pub(crate) struct Process {
    memory: Option<File>,
    descriptors: Option<Mutex<Dir>>,
    most_descriptors: u64,
}

impl Process {
    pub(crate) fn open() -> Self {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        Self {
            memory: File::open("/proc/self/statm").ok(),
            descriptors: Dir::open("/proc/self/fd", flags, Mode::empty()).ok().map(Mutex::new),
            most_descriptors: getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft),
        }
    }

    /// Octets of memory; 0 where the kernel does not say.
    pub(crate) fn resident(&self) -> u64 {
        let mut text = [0; 128];
        let read = self.memory.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or_default();
        let text = text.get(..read).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
        let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|page| u64::try_from(page).ok());
        pages.saturating_mul(page.unwrap_or_default())
    }

    /// Open descriptors; 0 where the kernel does not say.
    pub(crate) fn descriptors(&self) -> u64 {
        let Some(folder) = &self.descriptors else { return 0 };
        let mut folder = folder.lock().unwrap_or_else(PoisonError::into_inner);
        // Without `.` and `..`. The folder goes back to its beginning by itself.
        let entries = folder.iter().flatten().filter(|entry| !entry.file_name().to_bytes().starts_with(b"."));
        entries.count() as u64
    }

    /// Descriptors that might be open at the start. The limit does not change from then on.
    pub(crate) fn most_descriptors(&self) -> u64 {
        self.most_descriptors
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Process")
    }
}
