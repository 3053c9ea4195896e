//! Everything that was found, by container.

use serde::Serialize;

use super::capability::Origin;
use super::facts::{Flag, Spot};
use super::finding::{Finding, Level, Remark};
use super::lines::Lines;
use super::read::Scene;
use super::world::{Egress, Topology, World};
use super::{Input, Sidecars, check};
use crate::Malformed;

/// So many findings of one container are told; the worst first.
const MOST: usize = 500;

/// What a container is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It enforces.
    Sidecar,
    /// It is what the enforcement is for.
    Task,
}

/// One container, and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audited {
    /// Its name; in a pod `KIND/NAME/CONTAINER`.
    pub name: String,
    /// The file that it is from.
    pub file: String,
    /// What it is there for.
    pub role: Role,
    /// How it comes to a network, for people.
    pub network: String,
    /// What it can hold at most: the bounding set.
    pub capabilities: Vec<&'static str>,
    /// How many of them it was given without being asked for.
    pub default_capabilities: usize,
    /// The worst first.
    pub findings: Vec<Finding>,
    /// Findings beyond those that are told.
    pub more: usize,
}

/// What it all comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing but notes.
    Clean,
    /// Something could not be told, and nothing worse was found.
    Unknown,
    /// The enforcement is broken or weakened.
    Found,
    /// Something could not be read.
    Malformed,
}

/// The report; its JSON form is schema 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// What it comes to.
    pub outcome: Outcome,
    /// Findings about no container: that there is none which enforces.
    pub general: Vec<Finding>,
    /// The containers, in the order of the input.
    pub containers: Vec<Audited>,
    /// What could not be read.
    pub malformed: Vec<Malformed>,
}

impl Report {
    pub(super) fn new(inputs: &[Input<'_>], scene: &Scene, world: &World, sidecars: &Sidecars) -> Self {
        let lines: Vec<Lines<'_>> = inputs.iter().map(|input| Lines::new(input.bytes)).collect();
        let all = &scene.containers;
        let place = |file: usize, spot: &Spot| Some(lines.get(file)?.place(spot.at?));
        let name = |file: usize| inputs.get(file).map_or("", |input| input.file).to_owned();
        let finding = |file: usize, remark: Remark| Finding {
            place: place(file, &remark.spot),
            level: remark.level,
            id: remark.id,
            what: remark.what,
            allows: remark.allows,
            remedy: remark.remedy,
            file: name(file),
            field: remark.spot.field,
        };
        let audited = |(index, container): (usize, &super::facts::Container)| {
            let mut remarks = check::container(world, all, index);
            remarks.sort_by(|a, b| (a.level, a.id, a.spot.at).cmp(&(b.level, b.id, b.spot.at)));
            let more = remarks.len().saturating_sub(MOST);
            remarks.truncate(MOST);
            let held = &container.capabilities.held;
            Audited {
                name: container.name.clone(),
                file: name(container.file),
                role: world.roles.get(index).copied().unwrap_or(Role::Task),
                network: network(world, all, index),
                capabilities: held.keys().copied().collect(),
                default_capabilities: held.values().filter(|origin| **origin == Origin::Default).count(),
                findings: remarks.into_iter().map(|remark| finding(container.file, remark)).collect(),
                more,
            }
        };
        let containers: Vec<Audited> = all.iter().enumerate().map(audited).collect();
        let general = check::general(world, all, sidecars);
        let general = general.into_iter().map(|(file, remark)| finding(file, remark)).collect();
        let mut malformed = scene.malformed.clone();
        let unnamed = |name: &String| {
            Malformed::whole(
                "--sidecar",
                format!("no container is called {name:?}, and none shares its network"),
            )
        };
        malformed.extend(world.missing.iter().map(unnamed));
        malformed.sort_by(|a, b| (&a.file, a.place).cmp(&(&b.file, b.place)));
        let mut report = Self { schema: 1, outcome: Outcome::Clean, general, containers, malformed };
        report.outcome = report.judged();
        report
    }

    /// Adds a file that could not even be opened.
    pub fn add_unread(&mut self, file: Malformed) {
        self.malformed.push(file);
        self.outcome = Outcome::Malformed;
    }

    /// All findings.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.general.iter().chain(self.containers.iter().flat_map(|one| &one.findings))
    }

    fn judged(&self) -> Outcome {
        let worst = self.findings().map(|finding| finding.level).min();
        match worst {
            _ if !self.malformed.is_empty() => Outcome::Malformed,
            Some(Level::Breaks | Level::Weakens) => Outcome::Found,
            Some(Level::Unknown) => Outcome::Unknown,
            Some(Level::Note) | None => Outcome::Clean,
        }
    }
}

fn network(world: &World, all: &[super::facts::Container], index: usize) -> String {
    let name = |index: usize| all.get(index).map_or("", |one| one.name.as_str());
    match world.egress(all, index) {
        Egress::Behind(Some(sidecar), topology) => {
            let what = match topology {
                Topology::Sealed => "sealed",
                Topology::Shared => "shared",
            };
            match sidecar == index {
                true => format!("its own ({what})"),
                false => format!("through {} ({what})", name(sidecar)),
            }
        }
        Egress::Behind(None, _) => "through a sidecar that is not in the input".into(),
        Egress::Sealed => "none".into(),
        Egress::Host => "the machine's".into(),
        Egress::Own(network) => format!("its own way out ({network})"),
        Egress::Internal(network) => format!("a network without a way out ({network})"),
        Egress::Unknown(why) => format!("unknown: {why}"),
    }
}

/// Whether a switch is on, or may be.
pub(super) fn may_be_on(flag: &Flag) -> bool {
    matches!(flag, Flag::On | Flag::Unknown(_))
}
