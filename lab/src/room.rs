//! A lab in namespaces of its own: a child process that is the first of new user, network, mount and pid namespaces.
//!
//! It ends when its parent does, however that ends: it holds one end of a socket whose other end closes with the
//! parent, and when the first process of a pid namespace ends the kernel kills all others in it.

mod inside;
mod place;
mod routes;
mod view;

use std::cell::Cell;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use closedbook_kernel::fork::{self, Child};
use closedbook_kernel::idmap::IdMaps;
use closedbook_kernel::namespace::{Kind as NamespaceKind, Namespace};
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::Signal;
use nix::unistd::Pid;

pub(crate) use inside::raise_descriptor_limit;
pub use place::Place;

use crate::{Fault, LabError, World};
use closedbook_policy::Name;

/// How long a lab may take to tidy up before it is killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a lab is called: letters, digits, `-` and `_`, at most 40. It becomes a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabName(String);

/// What a lab is to be.
#[derive(Debug)]
pub struct Plan {
    /// What it is called.
    pub name: LabName,
    /// The names it knows.
    pub world: World,
    /// What goes wrong from the start.
    pub faults: Vec<(Name, Fault)>,
}

/// A lab that was started here. It ends when this value is dropped.
#[derive(Debug)]
pub struct Lab {
    child: Child,
    lifeline: UnixStream,
    place: Place,
}

/// The inside of a running lab, for processes that want in.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    first_process: Pid,
}

impl LabName {
    /// Checks a name.
    pub fn parse(text: &str) -> Result<Self, LabError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        match (1..=40).contains(&text.len()) && text.bytes().all(fits) {
            true => Ok(Self(text.to_owned())),
            false => Err(LabError::Named(text.to_owned())),
        }
    }

    /// A name that no other lab has.
    pub fn fresh() -> Self {
        Self(crate::fresh_nonce())
    }

    fn directory(&self) -> String {
        format!("lab-{}", self.0)
    }
}

impl fmt::Display for LabName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Lab {
    /// Starts a lab and waits until its servers are listening. This process must have one thread.
    pub fn start(plan: Plan) -> Result<Self, LabError> {
        let prepared = Place::choose()?;
        Self::start_in(&prepared, plan).inspect_err(|_| prepared.remove())
    }

    fn start_in(prepared: &Place, plan: Plan) -> Result<Self, LabError> {
        let maps = IdMaps::identity().map_err(LabError::IdMaps)?;
        let (ours, theirs) = UnixStream::pair().map_err(LabError::Lifeline)?;
        let name = plan.name.clone();
        let kinds = CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWNET
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWPID;
        // The child, a copy of this process, has a copy of our end as well. Held there, it would never close.
        let ours = Cell::new(Some(ours));
        let place = prepared.clone();
        let child = fork::fork_into(kinds, || {
            drop(ours.take());
            inside::run(theirs, &place, plan)
        })?;
        let ours = ours.take().ok_or(LabError::Died)?;
        let mut lines = BufReader::new(ours.try_clone().map_err(LabError::Lifeline)?);
        // From here on, giving up ends the child.
        let mut lab = Self { child, lifeline: ours, place: prepared.clone() };
        // The child holds the lock now, and waits for its ids.
        expect(&mut lines, inside::HELD)?;
        lab.place = prepared.clone().publish(&name, lab.child.pid())?;
        maps.write(lab.child.pid())?;
        lab.lifeline.write_all(b"\n").map_err(LabError::Lifeline)?;
        expect(&mut lines, inside::READY)?;
        Ok(lab)
    }

    /// Its directory.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Its inside.
    pub fn room(&self) -> Room {
        Room { first_process: self.child.pid() }
    }

    /// Waits until it has ended, by itself or by a signal it was sent.
    pub fn wait(&self) -> Result<(), LabError> {
        self.child.wait().map(|_| ()).map_err(LabError::Wait)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // The child takes the end of its lifeline for the order to end, and tidies up.
        let _ = self.lifeline.shutdown(std::net::Shutdown::Write);
        let _ = self.lifeline.set_read_timeout(Some(PATIENCE));
        let ended = self.lifeline.read_to_end(&mut Vec::new());
        if ended.is_err() {
            let _ = self.child.signal(Signal::SIGKILL);
        }
        let _ = self.child.wait();
        // Nothing to do in most cases; a lab that was killed left it.
        self.place.remove();
    }
}

impl Room {
    /// The inside of the lab of this name.
    pub fn find(name: &LabName) -> Result<Self, LabError> {
        Ok(Self { first_process: Place::find(name)?.1 })
    }

    /// Moves this process into the lab: its users, network and files at once, its pid namespace for the children made
    /// from now on. The working directory stays. This process must have one thread.
    pub fn enter(&self) -> Result<(), LabError> {
        let file = format!("/proc/{}/ns/pid", self.first_process);
        let pids = std::fs::File::open(&file).map_err(|source| LabError::File {
            action: "open",
            path: file.into(),
            source,
        })?;
        let mounts = Namespace::of(self.first_process, NamespaceKind::Mount)?;
        let directory = std::env::current_dir().map_err(LabError::Directory)?;
        self.enter_network()?;
        setns(&pids, CloneFlags::CLONE_NEWPID).map_err(|error| LabError::Pids(error.into()))?;
        mounts.join()?;
        std::env::set_current_dir(directory).map_err(LabError::Directory)
    }

    /// Moves this process into the lab's users and network, and leaves its files as they are: the machine's own
    /// resolv.conf is seen still. This process must have one thread.
    pub fn enter_network(&self) -> Result<(), LabError> {
        let users = Namespace::of(self.first_process, NamespaceKind::User)?;
        let network = Namespace::of(self.first_process, NamespaceKind::Net)?;
        users.join()?;
        network.join()?;
        Ok(())
    }
}

/// Reads one line of the child: the word, or what went wrong.
fn expect(lines: &mut impl BufRead, word: &str) -> Result<(), LabError> {
    let mut line = String::new();
    lines.read_line(&mut line).map_err(LabError::Lifeline)?;
    match line.trim_end() {
        line if line == word => Ok(()),
        "" => Err(LabError::Died),
        trouble => Err(LabError::Inside(trouble.to_owned())),
    }
}
