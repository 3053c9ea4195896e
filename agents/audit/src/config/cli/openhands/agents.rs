//! Subagents of OpenHands, which are files: in the working directory, then in the home folder.

use closedbook_document::Node;

use super::server;
use crate::config::front_matter::front_matter;
use crate::config::{Bringer, Content, Document, Kind, Scene, State};

const FOLDERS: [&str; 2] = [".agents/agents", ".openhands/agents"];

/// Files in one folder that are looked at.
const MOST: usize = 1000;

pub(super) fn audit(scene: &mut Scene<'_>, work: &str) {
    let mut seen: Vec<String> = Vec::new();
    let home = scene.launch().home.trim_end_matches('/').to_owned();
    for folder in
        [work.to_owned(), home].iter().flat_map(|root| FOLDERS.map(|folder| format!("{root}/{folder}")))
    {
        for file in scene.list(&folder).into_iter().take(MOST) {
            let Some(stem) = file.strip_suffix(".md").filter(|stem| !stem.eq_ignore_ascii_case("readme"))
            else {
                continue;
            };
            let path = format!("{folder}/{file}");
            let Content::Bytes(bytes) = scene.bytes(&path) else { continue };
            let Some(head) = front_matter(&bytes) else { continue };
            let document = match head.read() {
                Ok(root) => head.document(&path, root),
                // Such a file is left out with a warning in the log.
                Err(fault) => {
                    scene.malformed(fault.named(&path));
                    continue;
                }
            };
            let name = document.root.get("name").and_then(Node::text).unwrap_or(stem).to_owned();
            // The first file of a name counts.
            if !seen.contains(&name) {
                seen.push(name.clone());
                agent(scene, &document, &name);
            }
        }
    }
}

fn agent(scene: &mut Scene<'_>, document: &Document, name: &str) {
    let tools = document.root.get("tools");
    let single = tools.into_iter().filter(|tools| tools.text().is_some());
    let listed = tools.into_iter().flat_map(Node::items).chain(single);
    for tool in listed.filter(|tool| tool.text().is_some_and(|text| text.to_lowercase().contains("browser")))
    {
        let why = "a subagent with a browser, where the library has one; the agent can start it".to_owned();
        let origin = document.origin(tool.at);
        scene.brings(Bringer { kind: Kind::Subagent, name: name.to_owned(), origin, state: State::On, why });
    }
    for (key, node) in document.root.get("mcp_servers").iter().flat_map(|servers| servers.fields()) {
        let (kind, reach) = server(node);
        let why = format!("{reach}: started with the subagent {name}");
        let origin = document.origin(key.at);
        scene.brings(Bringer { kind, name: key.text.clone(), origin, state: State::On, why });
    }
}
