//! What a container lets a task do to the enforcement around it.
//!
//! Reads what engines and orchestrators are told, or tell: `docker inspect`, `podman inspect`, compose files, OCI runtime
//! configurations, Kubernetes manifests. Each becomes the same facts, and the checks see only those. What is
//! not understood is said to be [unknown](Level::Unknown), never left out.

mod capability;
mod check;
mod facts;
mod finding;
mod format;
mod lines;
mod path;
mod read;
mod remedy;
mod report;
mod view;
mod world;

pub use finding::{Finding, Level};
pub use format::Format;
pub use report::{Audited, Outcome, Report, Role};

/// A file that was given.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Its name, for people.
    pub file: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// What is known beside the files.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What the files are; found by their content if not given.
    pub format: Option<Format>,
    /// Which containers enforce.
    pub sidecars: Sidecars,
}

/// Which containers enforce.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sidecars {
    /// Found: by the names that they are known under, or as those whose network namespace others share.
    #[default]
    Found,
    /// These and no others: names, ids, or the path of a network namespace.
    Named(Vec<String>),
    /// None: the tasks are sealed, and must have no network at all.
    Absent,
}

/// Reads all the files and says what was found. Files that can't be read are in the report too.
pub fn audit(inputs: &[Input<'_>], options: &Options) -> Report {
    let mut scene = read::Scene::default();
    for input in inputs {
        read::add(&mut scene, *input, options.format);
    }
    let world = world::World::new(&scene.containers, &options.sidecars);
    report::Report::new(inputs, &scene, &world, &options.sidecars)
}
