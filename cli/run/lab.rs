//! The lab as the uplink of a run.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use closedbook_lab::{
    self as lab, Control, LabError, LabName, Place, Plan, RESOLVER_V4, Room, World, ca_environment,
};

use crate::exit::{Failure, chain};
use crate::flags;
use crate::flags::evidence::Evidence;

/// The lab of a run.
pub(super) struct Lab {
    running: Running,
    witness: Option<Record>,
    tape: Option<Record>,
}

/// Whose it is.
enum Running {
    /// This run's: it lives as long as this value.
    Own(lab::Lab),
    /// Somebody else's.
    Others(Place, Room),
}

/// Which lab is wanted.
pub(super) enum Which {
    /// One of its own.
    Own(Wishes),
    /// The one of this name.
    Named(LabName),
}

/// Which files are wanted of a lab.
pub(super) struct Wishes {
    /// For what arrived.
    pub(super) witness: Option<PathBuf>,
    /// For what its models were asked.
    pub(super) tape: Option<PathBuf>,
}

/// A file that tells of the lab.
struct Record {
    flag: &'static str,
    file: File,
    evidence: Option<Evidence>,
}

impl Which {
    /// From `--lab` and `--lab-name`.
    pub(super) fn of(own: Option<Wishes>, name: Option<&str>) -> Result<Option<Self>, Failure> {
        let named = |name| LabName::parse(name).map_err(|error| Failure::usage(chain(&error)));
        Ok(match (own, name) {
            (Some(wishes), _) => Some(Which::Own(wishes)),
            (None, Some(name)) => Some(Which::Named(named(name)?)),
            (None, None) => None,
        })
    }
}

impl Lab {
    /// Returns when all its servers listen.
    pub(super) fn start(which: &Which) -> Result<Self, Failure> {
        match which {
            Which::Own(wishes) => Self::begin(wishes),
            Which::Named(name) => Self::join(name),
        }
    }

    fn join(name: &LabName) -> Result<Self, Failure> {
        let (place, room) = Place::find(name)
            .and_then(|(place, _)| Ok((place, Room::find(name)?)))
            .map_err(|error| Failure::usage(chain(&error)).remedy("closedbook lab up starts one"))?;
        Ok(Self { running: Running::Others(place, room), witness: None, tape: None })
    }

    fn begin(wishes: &Wishes) -> Result<Self, Failure> {
        let open =
            |flag, path: &Option<PathBuf>| path.as_deref().map(|path| Record::open(flag, path)).transpose();
        let (witness, tape) = (open("--witness", &wishes.witness)?, open("--tape", &wishes.tape)?);
        let plan = Plan { name: LabName::fresh(), world: World::new(), faults: Vec::new() };
        let running = lab::Lab::start(plan).map_err(cannot_start)?;
        Ok(Self { running: Running::Own(running), witness, tape })
    }

    /// Where the proxy has its uplink.
    pub(super) fn room(&self) -> lab::Room {
        match &self.running {
            Running::Own(lab) => lab.room(),
            Running::Others(_, room) => *room,
        }
    }

    /// What makes ordinary clients trust the lab.
    pub(super) fn environment(&self) -> Vec<(String, OsString)> {
        let variables = ca_environment(&self.place().ca());
        variables.into_iter().map(|(name, value)| (name, value.into())).collect()
    }

    /// Who knows the lab's names.
    pub(super) fn resolvers(&self) -> Vec<SocketAddr> {
        vec![SocketAddr::new(IpAddr::V4(RESOLVER_V4), 53)]
    }

    /// What the command must not reach: the lab answers to its owner, and its records tell of the command.
    pub(super) fn out_of_reach(&self) -> impl Iterator<Item = PathBuf> {
        let evidence = self.records().filter_map(|record| record.evidence.as_ref());
        std::iter::once(self.place().control()).chain(evidence.map(|evidence| evidence.place().to_owned()))
    }

    /// Writes down what has arrived and what models were asked, where that was wanted.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        if self.records().next().is_none() {
            return Ok(());
        }
        let mut control = Control::connect(self.place()).map_err(untold)?;
        if let Some(record) = &self.witness {
            control.arrivals().map_err(untold)?.iter().try_for_each(|arrival| record.write(arrival))?;
        }
        if let Some(record) = &self.tape {
            let lab::Recording { requests, dropped } = control.recording().map_err(untold)?;
            requests.iter().try_for_each(|request| record.write(request))?;
            // The last line, whether there were any or not: without it the record is not whole.
            record.write(&serde_json::json!({ "dropped": dropped }))?;
        }
        Ok(())
    }

    /// Whether that is where it was asked for.
    pub(super) fn verify(&self) -> Result<(), Failure> {
        self.records().try_for_each(Record::verify)
    }

    fn place(&self) -> &Place {
        match &self.running {
            Running::Own(lab) => lab.place(),
            Running::Others(place, _) => place,
        }
    }

    fn records(&self) -> impl Iterator<Item = &Record> {
        self.witness.iter().chain(&self.tape)
    }
}

impl Record {
    fn open(flag: &'static str, path: &Path) -> Result<Self, Failure> {
        let file = flags::open_output(flag, path)?;
        let evidence = Evidence::of(flag, path, &file)?;
        Ok(Self { flag, file, evidence })
    }

    /// Adds a line.
    fn write(&self, what: &impl serde::Serialize) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::refused(format!("{}: {error}", self.flag));
        let mut line = serde_json::to_vec(what).map_err(|error| failed(&error))?;
        line.push(b'\n');
        let mut file = &self.file;
        file.write_all(&line).map_err(|error| failed(&error))
    }

    fn verify(&self) -> Result<(), Failure> {
        self.evidence.as_ref().map_or(Ok(()), |evidence| evidence.verify(&self.file))
    }
}

fn untold(error: LabError) -> Failure {
    Failure::refused(format!("the lab does not tell what it saw: {}", chain(&error)))
}

fn cannot_start(error: LabError) -> Failure {
    match error {
        LabError::Fork(error) => super::supervisor::no_namespaces(error),
        error => Failure::host(format!("the lab can't start: {}", chain(&error))),
    }
}
