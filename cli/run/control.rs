//! The control socket of a run: bound by the supervisor, answered by the proxy, seen by nobody inside.

use std::fs;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::sweeper::Sweeper;
use crate::exit::Failure;
use crate::instance::{ControlSocket, Folder, InstanceName, bind};

/// Where the operator reaches the run, and what is removed at its end.
pub(super) struct Control {
    path: PathBuf,
    listener: Option<UnixListener>,
    /// Removes it if this process can't.
    _sweeper: Sweeper,
}

/// What was asked for.
#[derive(Debug)]
pub(super) struct Wanted {
    /// At this path, instead of in the user's folder.
    pub(super) path: Option<PathBuf>,
    /// What the run is called.
    pub(super) name: Option<InstanceName>,
}

impl Control {
    /// Binds it. None if nobody asked for one and there is no place for it: a run needs no operator.
    pub(super) fn bind(wanted: Wanted, quiet: bool) -> Result<Option<Self>, Failure> {
        let Wanted { path, name } = wanted;
        let asked = path.is_some() || name.is_some();
        let bound = match path {
            Some(path) => Self::at(&path),
            None => Self::in_folder(name),
        };
        match bound {
            Ok(control) => Ok(Some(control)),
            Err(failure) if asked => Err(failure),
            Err(failure) => {
                if !quiet {
                    eprintln!("closedbook: this run can't be controlled while it goes: {failure}");
                }
                Ok(None)
            }
        }
    }

    fn in_folder(name: Option<InstanceName>) -> Result<Self, Failure> {
        let folder = Folder::make()?;
        if let Some(name) = &name
            && folder.sockets().iter().any(|other| other.name.as_ref() == Some(name) && other.is_answered())
        {
            return Err(Failure::usage(format!("a run named {name} is going already"))
                .remedy("choose another --name"));
        }
        Self::at(&ControlSocket::new(folder.path(), name).path)
    }

    fn at(path: &Path) -> Result<Self, Failure> {
        let lost = |error: io::Error| {
            Failure::host(format!("--control {}: it can't be found again: {error}", path.display()))
        };
        // Found again from whatever folder the run ends in.
        let path = std::path::absolute(path).map_err(lost)?;
        let mut sweeper = Sweeper::start(path.clone())?;
        let listener = bind(&path)?;
        sweeper.made(&path).map_err(lost)?;
        Ok(Self { path, listener: Some(listener), _sweeper: sweeper })
    }

    /// For the proxy, and for whoever starts another in its place: held by anybody else, it would let clients wait for an
    /// answer that never comes when the proxy is gone. It can't be bound again for the next proxy: what hides it from the
    /// command would go with the old file.
    pub(super) fn hand_over(&mut self) -> Option<UnixListener> {
        self.listener.take()
    }

    /// The socket.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Somebody else may have removed it, which is as good.
        let _ = fs::remove_file(&self.path);
    }
}

/// The folders in which other runs make their sockets, now or later: what the command must not see either.
pub(super) fn folders() -> impl Iterator<Item = PathBuf> {
    Folder::make_all().into_iter().map(|folder| folder.path().to_owned())
}
