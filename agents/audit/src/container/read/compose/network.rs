//! The networks of a service.

use super::{Kind, Project, implicit, variable};
use crate::container::facts::{At, Container, Flag, Network};
use crate::container::read::options;
use crate::container::view::{Reader, View};

/// Of a network at the top of the file.
pub(super) fn kind(reader: &mut Reader<'_>, view: &View<'_>) -> Kind {
    let internal = reader.flag(view, "internal").value;
    let external = !matches!(reader.flag(view, "external").value, Flag::Unset | Flag::Off);
    match internal {
        // What is made elsewhere is made as it is there.
        Flag::On if !external => Kind::Internal,
        Flag::Unknown(_) => Kind::Unknown,
        _ => Kind::Open,
    }
}

pub(super) fn read(reader: &mut Reader<'_>, project: &Project, view: &View<'_>, service: &mut Container) {
    let joined = joined(reader, view);
    let mode = reader.text(view, "network_mode").map(|mode| variable::settle(reader, mode));
    let Some(mode) = mode else {
        service.network = of_networks(project, joined, view);
        return;
    };
    let known = options::network(mode.value.trim());
    let named = || project.networks.get(mode.value.trim()).map(|_| Network::Own(mode.value.clone()));
    let network =
        known.or_else(named).unwrap_or_else(|| Network::Unknown(format!("network_mode {:?}", mode.value)));
    let network = match network {
        Network::Of(name) => Network::Of(project.known_as(&name, Some(mode.clone()))),
        network => network,
    };
    service.network = At::new(network, mode.spot);
    // The engine refuses both together; others who read such files may not.
    service.networks = joined;
}

/// One that has a way out makes the others unimportant.
fn of_networks(project: &Project, joined: Vec<At<String>>, view: &View<'_>) -> At<Network> {
    // `default` need not be told to be there, and is open.
    let kind = |name: &At<String>| project.networks.get(&name.value).copied().unwrap_or(Kind::Open);
    let find = |wanted: Kind| joined.iter().find(|name| kind(name) == wanted).cloned();
    if let Some(open) = find(Kind::Open) {
        return At::new(Network::Own(open.value), open.spot);
    }
    if let Some(unknown) = find(Kind::Unknown) {
        return At::new(Network::Unknown(format!("network {:?}", unknown.value)), unknown.spot);
    }
    match find(Kind::Internal) {
        Some(internal) => At::new(Network::Internal(internal.value), internal.spot),
        None => implicit(project, view.missing("network_mode")),
    }
}

/// By name: a list, or a table with settings.
fn joined(reader: &mut Reader<'_>, view: &View<'_>) -> Vec<At<String>> {
    let Some(field) = view.get("networks") else { return Vec::new() };
    let closedbook_document::Value::Table(_) = field.node.value else {
        return reader.texts(view, "networks");
    };
    field.fields().map(|(name, item)| At::new(name.to_owned(), item.spot())).collect()
}
