//! What is mounted where: `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use std::fs;
use std::path::PathBuf;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Where.
    pub(crate) point: PathBuf,
    /// The kind of file system.
    pub(crate) kind: String,
}

/// All of them; an error if the kernel's list can't be read.
pub(crate) fn mounts() -> std::io::Result<Vec<Mount>> {
    Ok(parse(&fs::read_to_string("/proc/self/mountinfo")?))
}

/// Folders that are mounted from somewhere else: volumes, for whoever shares them. Not the kernel's own file systems, nor
/// the root, nor single files that an engine puts in (`/etc/hosts`).
pub(crate) fn volumes() -> std::io::Result<Vec<PathBuf>> {
    /// File systems that hold what the kernel says, or nothing that another container could have put there.
    const KERNEL: [&str; 19] = [
        "autofs",
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "devtmpfs",
        "efivarfs",
        "fusectl",
        "hugetlbfs",
        "mqueue",
        "nsfs",
        "proc",
        "pstore",
        "securityfs",
        "sysfs",
        "tracefs",
    ];
    let held = mounts()?.into_iter().filter(|mount| !KERNEL.contains(&mount.kind.as_str()));
    Ok(held.map(|mount| mount.point).filter(|point| point.parent().is_some() && point.is_dir()).collect())
}

/// Optional fields end with a hyphen; after it comes the kind.
fn parse(text: &str) -> Vec<Mount> {
    text.lines()
        .filter_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            let point = unescaped(before.split(' ').nth(4)?);
            Some(Mount { point: point.into(), kind: after.split(' ').next()?.to_owned() })
        })
        .collect()
}

/// Space, tab, newline and backslash are written as three octal digits.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (code, meant)| text.replace(code, meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let text =
            "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\nnonsense\n";
        assert_eq!(parse(text), [Mount { point: "/mnt 2".into(), kind: "ext3".into() }]);
        assert!(mounts().unwrap().iter().any(|mount| mount.kind == "proc"));
    }
}
