//! The lab as the uplink of a run: a process of its own, in namespaces of its own, that ends with the run.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process;

use closedbook_kernel::descriptors;
use closedbook_kernel::fork::{Child, fork_into};
use closedbook_kernel::idmap::IdMaps;
use closedbook_kernel::lo;
use closedbook_kernel::namespace::{Kind, Namespace};
use closedbook_kernel::privileges;
use closedbook_lab::{RESOLVER_V4, Running, World, ca_environment};
use nix::sched::CloneFlags;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::wire::Line;
use crate::exit::{Failure, chain};

/// A lab that lives as long as this value.
pub(super) struct Lab {
    child: Child,
    namespaces: Vec<Namespace>,
    folder: PathBuf,
    /// Closing it tells the lab to end.
    _line: Line,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToLab {
    Mapped,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FromLab {
    Ready,
    Unable(String),
}

impl Lab {
    /// Returns when all its servers listen.
    pub(super) fn start(witness: Option<&Path>) -> Result<Self, Failure> {
        let folder = make_folder()
            .map_err(|error| Failure::host(format!("can't make a folder for the lab: {error}")))?;
        let bug = |error: &dyn std::error::Error| Failure::bug(format!("the lab: {}", chain(error)));
        let maps = IdMaps::root_inside();
        let (mut line, theirs) = Line::pair().map_err(|error| bug(&error))?;
        let kinds = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWPID;
        let child =
            fork_into(kinds, || live(theirs, &folder, witness)).map_err(super::supervisor::no_namespaces)?;
        maps.write(child.pid()).map_err(|error| bug(&error))?;
        line.say(&ToLab::Mapped).map_err(|error| bug(&error))?;
        match line.hear().map_err(|error| bug(&error))? {
            Some(FromLab::Ready) => {}
            Some(FromLab::Unable(what)) => return Err(Failure::host(format!("the lab can't start: {what}"))),
            None => return Err(Failure::bug("the lab ended before it was ready")),
        }
        let namespaces = [Kind::User, Kind::Net]
            .into_iter()
            .map(|kind| Namespace::of(child.pid(), kind))
            .collect::<Result<_, _>>()
            .map_err(|error| bug(&error))?;
        Ok(Self { child, namespaces, folder, _line: line })
    }

    /// Where the proxy has its uplink.
    pub(super) fn namespaces(&self) -> &[Namespace] {
        &self.namespaces
    }

    /// What makes ordinary clients trust the lab.
    pub(super) fn environment(&self) -> Vec<(String, OsString)> {
        ca_environment(&self.folder.join(CA)).into_iter().map(|(name, value)| (name, value.into())).collect()
    }

    /// Who knows the lab's names.
    pub(super) fn resolvers(&self) -> Vec<SocketAddr> {
        vec![SocketAddr::new(IpAddr::V4(RESOLVER_V4), 53)]
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.child.signal(Signal::SIGKILL);
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const CA: &str = "ca.pem";

/// The lab's process: process 1 of its pid namespace.
fn live(mut line: Line, folder: &Path, witness: Option<&Path>) -> u8 {
    let ready = match prepare(&mut line, folder, witness) {
        Ok(ready) => ready,
        Err(what) => {
            let _ = line.say(&FromLab::Unable(what));
            return 1;
        }
    };
    if line.say(&FromLab::Ready).is_ok() {
        // Nothing more is said: what is heard is the end of the other side.
        while matches!(line.hear::<ToLab>(), Ok(Some(_))) {}
    }
    drop(ready);
    let _ = fs::remove_dir_all(folder);
    0
}

/// The runtime and the servers, listening.
fn prepare(line: &mut Line, folder: &Path, witness: Option<&Path>) -> Result<(Running, Runtime), String> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(|error| error.to_string())?;
    descriptors::close_all_but(&line.descriptors()).map_err(|error| error.to_string())?;
    match line.hear::<ToLab>() {
        Ok(Some(ToLab::Mapped)) => {}
        other => return Err(format!("the id maps did not come: {other:?}")),
    }
    privileges::raise_descriptor_limit().map_err(|error| error.to_string())?;
    lo::any_local().map_err(|error| chain(&error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("can't start its threads: {error}"))?;
    let world = witness.map_or_else(World::new, |file| World::new().with_log(file.to_owned()));
    let running = runtime
        .block_on(closedbook_lab::serve(world, std::future::pending()))
        .map_err(|error| chain(&error))?;
    fs::write(folder.join(CA), running.ca_pem()).map_err(|error| format!("its certificate: {error}"))?;
    Ok((running, runtime))
}

/// A folder that only this user may write to, and everybody may read: the command may change its user.
fn make_folder() -> io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!(
        "closedbook-lab-{}-{}",
        process::id(),
        closedbook_lab::fresh_nonce()
    ));
    fs::DirBuilder::new().mode(0o755).create(&folder)?;
    Ok(folder)
}
