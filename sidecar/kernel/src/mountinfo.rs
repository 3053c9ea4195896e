//! Reads `/proc/self/mountinfo` (proc_pid_mountinfo(5)). Pure.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// `major:minor` of the file system.
    pub device: String,
    /// The folder of the file system that is mounted.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// The per-mount options: `rw`, `nosuid`, ...
    pub options: Vec<String>,
    /// `proc`, `ext4`, ...
    pub kind: String,
}

/// Reads a whole table; `None` if a line is not of the documented form.
pub fn parse(table: &[u8]) -> Option<Vec<Mount>> {
    table.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(mount).collect()
}

/// Every other path at which the same file is visible, when a part of its file system is mounted in several places.
///
/// `path` must be absolute and free of links.
pub fn aliases(mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    // The longest mount point that holds the path is the one it lies in; of equal ones the last, which covers the others.
    let Some(home) =
        mounts.iter().filter(|m| path.starts_with(&m.point)).max_by_key(|m| m.point.as_os_str().len())
    else {
        return Vec::new();
    };
    let Ok(below) = path.strip_prefix(&home.point) else { return Vec::new() };
    let inside = join(&home.root, below);
    mounts
        .iter()
        .filter(|m| m.device == home.device && **m != *home)
        .filter_map(|m| inside.strip_prefix(&m.root).ok().map(|rest| join(&m.point, rest)))
        .filter(|alias| alias != path)
        .collect()
}

/// `Path::join` that does not leave a trailing slash for an empty rest.
fn join(base: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { base.to_owned() } else { base.join(rest) }
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&b| b == b' ');
    let (_id, _parent) = (fields.next()?, fields.next()?);
    let device = String::from_utf8(fields.next()?.to_vec()).ok()?;
    let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
    let options = std::str::from_utf8(fields.next()?).ok()?.split(',').map(str::to_owned).collect();
    // Optional fields end with a lone hyphen.
    fields.by_ref().find(|field| *field == b"-")?;
    let kind = String::from_utf8(fields.next()?.to_vec()).ok()?;
    Some(Mount { device, root, point, options, kind })
}

/// Blanks, tabs, newlines and backslashes are written as three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:20 / /run rw,nosuid,nodev shared:2 master:3 - tmpfs tmpfs rw
23 21 0:20 /user /srv/a\\040b ro - tmpfs tmpfs rw
24 21 0:5 / /proc rw,nosuid - proc proc rw
";

    #[test]
    fn fields_and_escapes() {
        let mounts = parse(TABLE).expect("a table");
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[2].point, Path::new("/srv/a b"));
        assert_eq!(mounts[2].root, Path::new("/user"));
        assert_eq!(mounts[1].options, ["rw", "nosuid", "nodev"]);
        assert_eq!(mounts[3].kind, "proc");
    }

    /// G9: a socket that is hidden at one path is hidden at every path.
    #[test]
    fn a_file_is_found_at_every_mount_of_its_file_system() {
        let mounts = parse(TABLE).expect("a table");
        assert_eq!(aliases(&mounts, Path::new("/run/user/bus")), [Path::new("/srv/a b/bus")]);
        assert_eq!(aliases(&mounts, Path::new("/srv/a b/bus")), [Path::new("/run/user/bus")]);
        assert!(aliases(&mounts, Path::new("/run/docker.sock")).is_empty());
    }

    #[test]
    fn a_broken_line_is_not_passed_over() {
        assert_eq!(parse(b"21 1 8:1 / /\n"), None);
        assert_eq!(parse(b"21 1 8:1 / / rw shared:1 ext4 x rw\n"), None);
    }
}
