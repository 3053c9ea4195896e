//! What else brings the web: servers, extensions, subagents, hooks, other addresses.

use closedbook_document::{Format, Node};

use super::super::gemini_family::{self, Counts, Layer};
use super::settings::Start;
use super::tools::{TOOLS, address};
use crate::config::front_matter::front_matter;
use crate::config::scene::join;
use crate::config::{Bringer, Content, Document, Kind, Loaded, Origin, Scene, State, provider};

const OWN: [&str; 3] = ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"];

/// Notes all of it; the tools are noted already.
pub(super) fn note(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    for layer in layers {
        let left_out = match &layer.counts {
            Counts::LeftOut(why) | Counts::Ignored(why) => Some(why.clone()),
            Counts::Yes | Counts::Unclear(_) => start.plain(),
        };
        if let Some(document) = layer.document.clone() {
            gemini_family::servers(scene, &document, "", |name, _| {
                judge(start, layers, name, left_out.as_deref())
            });
        }
        gemini_family::hooks(scene, layer, left_out.as_deref());
    }
    project_file(scene, start, layers);
    config_flag(scene, start, layers);
    extensions(scene, start, layers);
    for folder in [join(&start.folder, "agents"), scene.workdir(".qwen/agents")] {
        agents(scene, start, &folder);
    }
    if let Some((url, origin, _)) = address(scene, start) {
        provider::note(scene, url, &OWN, origin);
    }
}

fn judge(start: &Start<'_>, layers: &[Layer], name: &str, left_out: Option<&str>) -> (State, Option<String>) {
    if let Some(why) = left_out {
        return (State::Off, Some(why.to_owned()));
    }
    let given: Vec<_> = start.arguments.values("--allowed-mcp-server-names").collect();
    if let Some(first) = given.first() {
        let is_named = given.iter().flat_map(|word| word.text.split(',')).any(|given| given.trim() == name);
        let why = format!("--allowed-mcp-server-names ({}) does not name it", first.origin);
        return if is_named { (State::On, None) } else { (State::Off, Some(why)) };
    }
    for layer in layers.iter().filter(|layer| layer.counts()) {
        if let Some((list, origin)) = layer.at(&["mcp", "excluded"])
            && gemini_family::texts(list).any(|(text, _)| text == name)
        {
            return (State::Off, Some(format!("mcp.excluded ({origin}) names it")));
        }
    }
    (State::On, None)
}

/// `.mcp.json` asks for approval, which a run without a terminal may not need.
fn project_file(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    let path = scene.workdir(".mcp.json");
    if let Loaded::Document(document) = gemini_family::commented(scene, &path) {
        let plain = start.plain();
        gemini_family::servers(scene, &document, "", |name, _| judge(start, layers, name, plain.as_deref()));
    }
}

fn config_flag(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    for word in start.arguments.values("--mcp-config") {
        let loaded = if word.text.trim_start().starts_with('{') {
            scene.parse("--mcp-config", word.text.as_bytes().to_vec(), Format::Json)
        } else {
            let path = scene.resolved(word.text);
            gemini_family::commented(scene, &path)
        };
        match loaded {
            Loaded::Document(document) => {
                gemini_family::servers(scene, &document, "", |name, _| judge(start, layers, name, None));
            }
            Loaded::Absent => {
                let reason = format!("--mcp-config ({}) names it and it is not there", word.origin);
                scene.malformed(crate::Malformed::whole(word.text, reason));
            }
            Loaded::Malformed(_) | Loaded::Unreadable(_) => {}
        }
    }
}

fn extensions(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    let folder = join(&start.folder, "extensions");
    let given: Vec<_> = start.arguments.values("--extensions").collect();
    for name in scene.list(&folder) {
        let path = join(&folder, &format!("{name}/qwen-extension.json"));
        let Loaded::Document(document) = gemini_family::commented(scene, &path) else { continue };
        let title = document.root.get("name").and_then(Node::text).unwrap_or(&name).to_owned();
        let names = given.iter().flat_map(|word| word.text.split(',')).map(str::trim);
        let is_named = names.into_iter().any(|given| given.eq_ignore_ascii_case(&title));
        let left_out = start.plain().or_else(|| {
            given
                .first()
                .filter(|_| !is_named)
                .map(|word| format!("--extensions ({}) does not name it", word.origin))
        });
        let (state, why) = match &left_out {
            Some(why) => (State::Off, why.clone()),
            None => (State::On, "an extension is loaded unless something says otherwise".to_owned()),
        };
        let origin = Origin::File { path: path.clone(), place: None };
        scene.brings(Bringer { kind: Kind::Plugin, name: title.clone(), origin, state, why });
        let prefix = format!("{title}:");
        gemini_family::servers(scene, &document, &prefix, |name, _| {
            judge(start, layers, name, left_out.as_deref())
        });
    }
}

fn agents(scene: &mut Scene<'_>, start: &Start<'_>, folder: &str) {
    for name in scene.list(folder) {
        let path = join(folder, &name);
        if !name.ends_with(".md") {
            continue;
        }
        let Content::Bytes(bytes) = scene.bytes(&path) else { continue };
        let Some(head) = front_matter(&bytes) else { continue };
        match head.read() {
            Ok(root) => agent(scene, start, &head.document(&path, root.clone()), &root, &name),
            Err(fault) => scene.malformed(fault.named(&path)),
        }
    }
}

fn agent(scene: &mut Scene<'_>, start: &Start<'_>, document: &Document, root: &Node, file: &str) {
    let name = root.get("name").and_then(Node::text).unwrap_or(file);
    let Some(list) = root.get("tools") else { return };
    for tool in &TOOLS {
        let is_named =
            gemini_family::texts(list).any(|(text, _)| gemini_family::resembles(text, &[tool.name]));
        if !is_named {
            continue;
        }
        let (state, why) = match (start.plain(), scene.state(tool.name)) {
            (Some(why), _) => (State::Off, why),
            (None, Some(State::Off)) => (
                State::Unknown,
                format!(
                    "a subagent that names {}, which is off in the main session; its own was not measured",
                    tool.name
                ),
            ),
            (None, state) => {
                (state.unwrap_or(State::Unknown), format!("a subagent that names {}", tool.name))
            }
        };
        let name = format!("{name} ({})", tool.name);
        scene.brings(Bringer { kind: Kind::Subagent, name, origin: document.origin(list.at), state, why });
    }
}
