//! The file of a control socket.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use nix::sys::stat::{Mode, umask};
use nix::unistd::geteuid;

use crate::exit::Failure;

/// What a run is called: letters, digits, `-` and `_`, at most 40. It becomes part of a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstanceName(String);

/// A control socket in the user's folder: `PID.sock` or `PID.NAME.sock`.
#[derive(Debug, Clone)]
pub(crate) struct ControlSocket {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The process that was started as `closedbook run`.
    pub(crate) pid: u32,
    /// What the run is called.
    pub(crate) name: Option<InstanceName>,
}

impl FromStr for InstanceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        match (1..=40).contains(&text.len()) && text.bytes().all(fits) {
            true => Ok(Self(text.to_owned())),
            false => Err("a name has letters, digits, `-` and `_`, at most 40".to_owned()),
        }
    }
}

impl ControlSocket {
    /// For this process, in a folder.
    pub(crate) fn new(folder: &Path, name: Option<InstanceName>) -> Self {
        let pid = std::process::id();
        let file = match &name {
            Some(name) => format!("{pid}.{name}.sock"),
            None => format!("{pid}.sock"),
        };
        Self { path: folder.join(file), pid, name }
    }

    /// Whether somebody listens.
    pub(crate) fn is_answered(&self) -> bool {
        UnixStream::connect(&self.path).is_ok()
    }

    /// What the file is by its name, if it can be one.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let stem = path.file_name()?.to_str()?.strip_suffix(".sock")?;
        let (pid, name) = match stem.split_once('.') {
            Some((pid, name)) => (pid, Some(name.parse().ok()?)),
            None => (stem, None),
        };
        Some(Self { path: path.to_owned(), pid: pid.parse().ok()?, name })
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ControlSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--pid {}", self.pid)?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, "  --name {name}"))
    }
}

/// Binds a control socket, mode 0600, in place of one that nobody answers any more. The folder must be one that
/// nobody else may write to: whoever can replace the socket can answer in its place (G10).
pub(crate) fn bind(path: &Path) -> Result<UnixListener, Failure> {
    refuse_open_folder(path)?;
    let cannot = |what: &dyn fmt::Display| {
        Failure::usage(format!("--control {}: {what}", path.display()))
            .remedy("name a path that is free, in a folder that only you may write to")
    };
    match fs::symlink_metadata(path) {
        Ok(old) if !old.file_type().is_socket() => {
            return Err(cannot(&"there is something else than a socket"));
        }
        Ok(_) if UnixStream::connect(path).is_ok() => return Err(cannot(&"somebody is listening there")),
        Ok(_) => fs::remove_file(path).map_err(|error| cannot(&error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot(&error)),
    }
    // Never wider than it will be, not even for a moment.
    let before = umask(Mode::from_bits_truncate(0o177));
    let bound = UnixListener::bind(path);
    umask(before);
    bound.map_err(|error| cannot(&error))
}

fn refuse_open_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let shown = folder.display();
    let fault = |what: &str| Failure::usage(format!("--control {}: {shown} {what}", path.display()));
    let meta = match fs::metadata(folder) {
        Ok(meta) if meta.is_dir() => meta,
        Ok(_) => return Err(fault("is not a folder")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(fault("does not exist").remedy(format!("mkdir -m 700 {shown}")));
        }
        Err(error) => return Err(fault(&format!("can't be looked at: {error}"))),
    };
    if meta.mode() & 0o022 != 0 {
        return Err(fault("can be written to by others")
            .remedy(format!("chmod go-w {shown}, or name a path in a folder of your own")));
    }
    if meta.uid() != geteuid().as_raw() && meta.uid() != 0 {
        return Err(fault("belongs to another user").remedy("name a path in a folder of your own"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names() {
        let at = |file: &str| ControlSocket::at(Path::new(file));
        let found = at("/x/17.trial-3.sock").unwrap();
        assert_eq!((found.pid, found.name.unwrap().0.as_str()), (17, "trial-3"));
        assert!(at("/x/17.sock").unwrap().name.is_none());
        for file in ["x.sock", "17", "17.a.b.sock", "17..sock", "-1.sock", "17.a/b"] {
            assert!(at(file).is_none(), "{file}");
        }
        let own = ControlSocket::new(Path::new("/x"), Some("a".parse().unwrap()));
        assert_eq!(ControlSocket::at(&own.path).unwrap().pid, std::process::id());
    }
}
