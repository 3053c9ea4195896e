//! Unix sockets that somebody listens on: `/proc/net/unix`, which lists those of this network namespace, by name.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Where a unix socket is bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Bound {
    /// In the file system.
    Path(PathBuf),
    /// Abstract: in the network namespace itself (unix(7)).
    Abstract(Vec<u8>),
}

/// All stream sockets in state listening.
pub(crate) fn listening() -> std::io::Result<Vec<Bound>> {
    Ok(parse(&fs::read("/proc/net/unix")?))
}

/// `Num RefCount Protocol Flags Type St Inode Path`. Flag 0x10000 is "accepts connections", type 1 is a stream. The kernel
/// writes an abstract name with `@` for its first octet and for every NUL in it.
fn parse(text: &[u8]) -> Vec<Bound> {
    text.split(|octet| *octet == b'\n')
        .skip(1)
        .filter_map(|line| {
            let mut rest = line;
            let mut columns: Vec<&[u8]> = Vec::new();
            while columns.len() < 7 {
                let start = rest.iter().position(|octet| *octet != b' ')?;
                rest = rest.get(start..)?;
                let end = rest.iter().position(|octet| *octet == b' ').unwrap_or(rest.len());
                columns.push(rest.get(..end)?);
                rest = rest.get(end..)?;
            }
            let flags = u32::from_str_radix(std::str::from_utf8(columns.get(3)?).ok()?, 16).ok()?;
            let accepts = flags & 0x1_0000 != 0 && *columns.get(4)? == b"0001";
            match rest.strip_prefix(b" ").filter(|_| accepts)? {
                [] => None,
                [b'@', name @ ..] => Some(Bound::Abstract(name.to_vec())),
                path => Some(Bound::Path(PathBuf::from(OsStr::from_bytes(path)))),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let text = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            000000004adf96bc: 00000002 00000000 00000000 0001 03 507498\n\
            000000005b07f0d4: 00000002 00000000 00010000 0001 01 508647 /tmp/with space/control\n\
            000000005b07f0d5: 00000002 00000000 00010000 0001 01 508648 @name@x\n\
            000000005b07f0d6: 00000002 00000000 00000000 0002 01 508649 /dev/log\n";
        let path = Bound::Path("/tmp/with space/control".into());
        assert_eq!(parse(text), [path, Bound::Abstract(b"name@x".to_vec())]);
    }
}
