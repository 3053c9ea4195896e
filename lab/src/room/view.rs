//! What a command in the lab sees of the machine's files: the same, but for those that say how names are looked up.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use closedbook_kernel::mounts;
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};

use super::place::Place;
use crate::LabError;
use crate::world::{RESOLVER_V4, RESOLVER_V6};

/// Name service caches: glibc asks them before it looks at any file.
const CACHES: [&str; 2] = ["/run/nscd/socket", "/var/run/nscd/socket"];

/// Rearranges this mount namespace, which must be a fresh one below a fresh user and pid namespace.
pub(super) fn arrange(place: &Place) -> Result<(), LabError> {
    mounts::make_private()?;
    mounts::fresh_proc()?;
    mounts::kernel_file_systems_read_only()?;
    cover(place, "resolv.conf", &format!("nameserver {RESOLVER_V4}\nnameserver {RESOLVER_V6}\n"))?;
    cover(place, "hosts", "127.0.0.1 localhost\n::1 localhost\n")?;
    // Without the file, glibc and musl look into /etc/hosts and ask DNS, which is what is wanted.
    if let Ok(text) = fs::read_to_string("/etc/nsswitch.conf") {
        cover(place, "nsswitch.conf", &names_from_files_and_dns(&text))?;
    }
    let caches: Vec<PathBuf> = CACHES.iter().map(PathBuf::from).filter(|path| path.exists()).collect();
    mounts::hide(&caches)?;
    Ok(())
}

/// Puts a file of the lab over the machine's file in /etc. What isn't there needs no cover: without resolv.conf the
/// C libraries ask 127.0.0.1, which is the lab too.
fn cover(place: &Place, name: &str, text: &str) -> Result<(), LabError> {
    let path = place.write(name, text)?;
    let target = Path::new("/etc").join(name);
    match mount(Some(&path), &target, None::<&OsStr>, MsFlags::MS_BIND, None::<&OsStr>) {
        Ok(()) | Err(Errno::ENOENT) => Ok(()),
        Err(error) => Err(LabError::File { action: "cover", path: target, source: io::Error::from(error) }),
    }
}

fn names_from_files_and_dns(nsswitch: &str) -> String {
    let is_hosts = |line: &str| line.trim_start().starts_with("hosts:");
    let mut lines: Vec<&str> = nsswitch.lines().filter(|line| !is_hosts(line)).collect();
    lines.push("hosts: files dns");
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_way_of_looking_up_hosts_is_changed() {
        let before = "passwd: files systemd\n  hosts: mymachines resolve [!UNAVAIL=return] files\n# end\n";
        assert_eq!(names_from_files_and_dns(before), "passwd: files systemd\n# end\nhosts: files dns\n");
    }
}
