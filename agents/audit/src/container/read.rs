//! Input to facts: one file for each kind of input.

use closedbook_document::{Format as Syntax, Node, Unreadable};

use super::Input;
use super::facts::Container;
use super::format::Format;
use super::view::{Reader, View};
use crate::Malformed;

mod compose;
mod inspect;
mod kubernetes;
mod mounts;
mod oci;
mod options;

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub(super) containers: Vec<Container>,
    pub(super) malformed: Vec<Malformed>,
    files: usize,
    scopes: usize,
}

/// Containers that were inspected know each other, whichever file they stand in.
const INSPECTED: usize = 0;

impl Scene {
    fn scope(&mut self) -> usize {
        self.scopes += 1;
        self.scopes
    }
}

/// Reads one more file.
pub(super) fn add(scene: &mut Scene, input: Input<'_>, format: Option<Format>) {
    let file = scene.files;
    scene.files += 1;
    let before = scene.containers.len();
    let mut reader = Reader::new(input.file, input.bytes);
    match roots(input, format) {
        Ok(roots) => {
            read(scene, &mut reader, file, &roots, format);
            if scene.containers.len() == before && reader.malformed.is_empty() {
                reader.malformed.push(Malformed::whole(input.file, "there is no container in it"));
            }
        }
        Err(fault) => reader.malformed.push(Malformed::unreadable(input.file, input.bytes, &fault)),
    }
    scene.malformed.append(&mut reader.malformed);
}

/// What begins like JSON is JSON, unless its kind is known to be YAML's: YAML takes nearly every broken JSON for something.
fn roots(input: Input<'_>, format: Option<Format>) -> Result<Vec<Node>, Unreadable> {
    let text = str::from_utf8(input.bytes).map_err(|error| Unreadable {
        at: error.valid_up_to(),
        what: closedbook_document::Syntax::NotUtf8,
    })?;
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let is_yaml_kind = matches!(format, Some(Format::Compose | Format::Kubernetes));
    match start.starts_with(['{', '[']) {
        true => Syntax::Json.read_all(text).or_else(|fault| match is_yaml_kind {
            true => Syntax::Yaml.read_all(text),
            false => Err(fault),
        }),
        false => Syntax::Yaml.read_all(text),
    }
}

fn read(scene: &mut Scene, reader: &mut Reader<'_>, file: usize, roots: &[Node], format: Option<Format>) {
    let Some(first) = roots.first() else {
        reader.malformed.push(Malformed::whole(reader.file, "there is no value in it"));
        return;
    };
    let Some(format) = format.or_else(|| roots.iter().find_map(Format::of)) else {
        reader.wrong(first.at, UNKNOWN);
        return;
    };
    if let (Some(second), true) = (roots.get(1), format != Format::Kubernetes) {
        reader.wrong(
            second.at,
            "a second document begins here; give what `docker compose config` makes of them",
        );
        return;
    }
    for root in roots {
        let view = View::root(root);
        match format {
            Format::Docker | Format::Podman => inspect::read(scene, reader, file, &view, format),
            Format::Compose => compose::read(scene, reader, file, &view),
            Format::Oci => oci::read(scene, reader, file, &view),
            Format::Kubernetes => kubernetes::read(scene, reader, file, &view),
        }
    }
}

const UNKNOWN: &str = "none of docker inspect, podman inspect, compose (a table `services`), OCI config.json \
                       (`ociVersion`), Kubernetes (`apiVersion` and `kind`); --format says which it is";
