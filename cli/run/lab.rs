//! The lab as the uplink of a run.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use closedbook_lab::{self as lab, Control, LabError, LabName, Plan, RESOLVER_V4, World, ca_environment};

use crate::exit::{Failure, chain};
use crate::flags;
use crate::flags::evidence::Evidence;

/// A lab that lives as long as this value.
pub(super) struct Lab {
    running: lab::Lab,
    witness: Option<Record>,
}

/// Where what arrived is written down.
struct Record {
    file: File,
    evidence: Option<Evidence>,
}

impl Lab {
    /// Returns when all its servers listen.
    pub(super) fn start(witness: Option<&Path>) -> Result<Self, Failure> {
        let witness = witness.map(Record::open).transpose()?;
        let plan = Plan { name: LabName::fresh(), world: World::new(), faults: Vec::new() };
        let running = lab::Lab::start(plan).map_err(cannot_start)?;
        Ok(Self { running, witness })
    }

    /// Where the proxy has its uplink.
    pub(super) fn room(&self) -> lab::Room {
        self.running.room()
    }

    /// What makes ordinary clients trust the lab.
    pub(super) fn environment(&self) -> Vec<(String, OsString)> {
        let variables = ca_environment(&self.running.place().ca());
        variables.into_iter().map(|(name, value)| (name, value.into())).collect()
    }

    /// Who knows the lab's names.
    pub(super) fn resolvers(&self) -> Vec<SocketAddr> {
        vec![SocketAddr::new(IpAddr::V4(RESOLVER_V4), 53)]
    }

    /// What the command must not reach: the lab answers to its owner, and its witness tells of the command.
    pub(super) fn out_of_reach(&self) -> impl Iterator<Item = PathBuf> {
        let witness = self.witness.as_ref().and_then(|record| record.evidence.as_ref());
        let witness = witness.map(|evidence| evidence.place().to_owned());
        std::iter::once(self.running.place().control()).chain(witness)
    }

    /// Writes down what has arrived, where that was asked for.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let Some(Record { file, .. }) = &self.witness else { return Ok(()) };
        let mut file = file;
        let failed = |what: &dyn std::fmt::Display| Failure::refused(format!("the lab's witness: {what}"));
        let mut control = Control::connect(self.running.place()).map_err(|error| failed(&chain(&error)))?;
        for arrival in control.arrivals().map_err(|error| failed(&chain(&error)))? {
            let mut line = serde_json::to_vec(&arrival).map_err(|error| failed(&error))?;
            line.push(b'\n');
            file.write_all(&line).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Whether that is where it was asked for.
    pub(super) fn verify(&self) -> Result<(), Failure> {
        match &self.witness {
            Some(Record { file, evidence: Some(evidence) }) => evidence.verify(file),
            _ => Ok(()),
        }
    }
}

impl Record {
    fn open(path: &Path) -> Result<Self, Failure> {
        let file = flags::open_output("--witness", path)?;
        let evidence = Evidence::of("--witness", path, &file)?;
        Ok(Self { file, evidence })
    }
}

fn cannot_start(error: LabError) -> Failure {
    match error {
        LabError::Fork(error) => super::supervisor::no_namespaces(error),
        error => Failure::host(format!("the lab can't start: {}", chain(&error))),
    }
}
