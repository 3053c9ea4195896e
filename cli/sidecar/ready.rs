//! Saying that the outer half serves, in the ways that supervisors of services know.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};

use clap::Args;
use closedbook_kernel::descriptors::{self, inherited};
use closedbook_kernel::fork::fork_into;
use closedbook_kernel::privileges;
use nix::sched::CloneFlags;

use crate::exit::{Failure, chain};

/// Where to say it; besides `$NOTIFY_SOCKET` (sd_notify(3)), which is used if it is set.
#[derive(Debug, Args)]
pub(super) struct ReadyFlags {
    /// Make this file when the self-test has passed, and remove it when the outer half ends or dies.
    #[arg(long, value_name = "PATH")]
    ready_file: Option<PathBuf>,

    /// Write a line to this inherited descriptor when the self-test has passed, and close it.
    #[arg(long, value_name = "N")]
    ready_fd: Option<RawFd>,
}

/// What was opened for it, before nothing can be opened any more.
#[derive(Debug, Default)]
pub(super) struct Ready {
    manager: Option<UnixDatagram>,
    keeper: Option<io::PipeWriter>,
    descriptor: Option<File>,
}

impl ReadyFlags {
    /// Opens what is needed. Must be called before there are threads, and before the privileges go.
    pub(super) fn open(&self) -> Result<Ready, Failure> {
        let manager = std::env::var_os("NOTIFY_SOCKET").map(|name| {
            connect(name.as_bytes()).map_err(|error| {
                Failure::usage(format!("$NOTIFY_SOCKET, {}: {error}", name.to_string_lossy()))
            })
        });
        let keeper = self.ready_file.as_deref().map(keep);
        let descriptor = self.ready_fd.map(|number| {
            inherited(number)
                .map(File::from)
                .map_err(|error| Failure::usage(format!("--ready-fd {number}: {error}")))
        });
        Ok(Ready {
            manager: manager.transpose()?,
            keeper: keeper.transpose()?,
            descriptor: descriptor.transpose()?,
        })
    }
}

impl Ready {
    /// Says it. The value is to be kept as long as it holds.
    pub(super) fn announce(&mut self) -> io::Result<()> {
        if let Some(manager) = &self.manager {
            manager.send(b"READY=1")?;
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.write_all(b"\n")?;
        }
        match self.descriptor.take() {
            Some(mut descriptor) => descriptor.write_all(b"ready\n"),
            None => Ok(()),
        }
    }
}

/// A path, or a name in the abstract namespace after an `@`.
fn connect(name: &[u8]) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    match name.strip_prefix(b"@") {
        Some(name) => socket.connect_addr(&SocketAddr::from_abstract_name(name)?)?,
        None => socket.connect(Path::new(std::ffi::OsStr::from_bytes(name)))?,
    }
    Ok(socket)
}

/// Starts the keeper of the file: a process of its own, since the one that reads hostile bytes can't make files, and
/// since a file that says "ready" must go also when that one is killed.
fn keep(path: &Path) -> Result<io::PipeWriter, Failure> {
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("--ready-file {}: {error}", path.display()))
            .remedy("name a path in a folder that this user can write to")
    };
    // One that was left behind says nothing about us; and whether there can be one is found out now.
    File::create(path).and_then(|_| fs::remove_file(path)).map_err(|error| cannot(&error))?;
    let (told, tell) = io::pipe().map_err(|error| cannot(&error))?;
    fork_into(CloneFlags::empty(), || {
        let alone = descriptors::close_all_but(&[told.as_fd()]).is_ok()
            && descriptors::silence().is_ok()
            && privileges::drop_all().is_ok();
        if alone {
            show(&told, path);
        }
        0
    })
    .map_err(|error| Failure::bug(format!("the keeper of the ready file: {}", chain(&error))))?;
    Ok(tell)
}

/// Makes the file when told, removes it when nobody can tell anything any more.
fn show(mut told: &io::PipeReader, path: &Path) {
    let mut byte = [0];
    while let Ok(1) = told.read(&mut byte) {
        // Where the folder has gone there is nobody to look for it.
        let _ = File::create(path);
    }
    let _ = fs::remove_file(path);
}
