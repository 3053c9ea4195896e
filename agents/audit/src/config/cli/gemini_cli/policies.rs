//! Policy rules of Gemini CLI: which one has the last word on a tool.
//!
//! The first rule, by tier and priority, that speaks of a tool decides whether it is offered; one with a pattern for
//! arguments is passed over if it denies. Only exact names and `*` are names of built-in tools.

use closedbook_document::{Format, Node, Value};

use super::settings::Settings;
use super::start::Start;
use crate::Malformed;
use crate::config::scene::join;
use crate::config::{Document, Loaded, Origin, Scene};

/// A rule.
pub(super) struct Rule {
    /// Tiers are thousands: administrator 5, user 4, project 3.
    pub(super) priority: i64,
    pub(super) tool: String,
    pub(super) denies: bool,
    /// What it depends on besides the tool's name.
    pub(super) depends: Option<String>,
    pub(super) layer: &'static str,
    pub(super) origin: Origin,
    pub(super) what: String,
}

const ADMINISTRATOR: (i64, &str) = (5000, "administrator's policies");
const USER: (i64, &str) = (4000, "user's policies");
const WORKSPACE: (i64, &str) = (3000, "project's policies");

/// Every rule of every policy file that is read, strongest first.
pub(super) fn load(scene: &mut Scene<'_>, start: &Start<'_>, settings: &Settings) -> Vec<Rule> {
    let mut rules = Vec::new();
    let system = "/etc/gemini-cli/policies";
    let has_system = scene.list(system).iter().any(|name| name.ends_with(".toml"));
    folder(scene, &mut rules, ADMINISTRATOR, system, None);
    let admin = paths(scene, start, settings, "--admin-policy", "adminPolicyPaths");
    for path in admin {
        if has_system {
            let text = format!("{path} is passed over, since {system} has policies");
            scene.remark(Origin::File { path: path.clone(), place: None }, text);
            continue;
        }
        folder(scene, &mut rules, ADMINISTRATOR, &path, None);
    }
    let given = paths(scene, start, settings, "--policy", "policyPaths");
    if given.is_empty() {
        folder(scene, &mut rules, USER, &join(&start.folder, "policies"), None);
    }
    for path in given {
        folder(scene, &mut rules, USER, &path, None);
    }
    if !start.is_home {
        // 0.61.0 did not read them, in a trusted folder either.
        let why = "a project's policies were not read when it was measured";
        folder(scene, &mut rules, WORKSPACE, &scene.workdir(".gemini/policies"), Some(why));
    }
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
    rules
}

/// The paths that a flag or else the settings name.
fn paths(scene: &Scene<'_>, start: &Start<'_>, settings: &Settings, flag: &str, key: &str) -> Vec<String> {
    let given: Vec<_> = start.arguments.values(flag).collect();
    if !given.is_empty() {
        let each = given.iter().flat_map(|word| word.text.split(','));
        return each
            .map(str::trim)
            .filter(|path| !path.is_empty())
            .map(|path| resolved(scene, path))
            .collect();
    }
    let lists = settings.layers.iter().filter(|layer| layer.counts()).filter_map(|layer| layer.at(&[key]));
    lists
        .flat_map(|(list, _)| list.items())
        .filter_map(Node::text)
        .map(|path| resolved(scene, path))
        .collect()
}

fn resolved(scene: &Scene<'_>, path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => scene.home(rest),
        None => scene.resolved(path),
    }
}

/// A folder of policy files, or one file.
fn folder(
    scene: &mut Scene<'_>,
    rules: &mut Vec<Rule>,
    tier: (i64, &'static str),
    path: &str,
    depends: Option<&str>,
) {
    let names = scene.list(path);
    if names.is_empty() {
        return file(scene, rules, tier, path, depends);
    }
    for name in names.iter().filter(|name| name.ends_with(".toml")) {
        file(scene, rules, tier, &join(path, name), depends);
    }
}

fn file(
    scene: &mut Scene<'_>,
    rules: &mut Vec<Rule>,
    tier: (i64, &'static str),
    path: &str,
    depends: Option<&str>,
) {
    let document = match scene.document(path, Format::Toml) {
        Loaded::Document(document) => document,
        Loaded::Absent | Loaded::Malformed(_) => return,
        Loaded::Unreadable(why) => {
            rules.extend(["*"].map(|tool| Rule {
                priority: tier.0 + 999,
                tool: tool.to_owned(),
                denies: true,
                depends: Some(format!("it can't be read: {why}")),
                layer: tier.1,
                origin: Origin::File { path: path.to_owned(), place: None },
                what: "the policy file".to_owned(),
            }));
            return;
        }
    };
    let Some(list) = document.root.get("rule") else { return };
    let mut found = Vec::new();
    for rule in list.items() {
        match one(&document, rule, tier, depends) {
            Ok(rules) => found.extend(rules),
            Err(reason) => {
                // One wrong rule, and the file's rules are all left out.
                scene.malformed(Malformed { file: path.to_owned(), place: place(&document, rule), reason });
                return;
            }
        }
    }
    rules.extend(found);
}

fn place(document: &Document, rule: &Node) -> Option<closedbook_document::Place> {
    match document.origin(rule.at) {
        Origin::File { place, .. } => place,
        _ => None,
    }
}

fn one(
    document: &Document,
    rule: &Node,
    tier: (i64, &'static str),
    depends: Option<&str>,
) -> Result<Vec<Rule>, String> {
    let Some(tools) = rule.get("toolName") else { return Err("a rule needs `toolName`".into()) };
    let names: Vec<&str> =
        tools.text().into_iter().chain(tools.items().iter().filter_map(Node::text)).collect();
    if names.is_empty() {
        return Err("`toolName` must be text or a list of texts".into());
    }
    let denies = match rule.get("decision").and_then(Node::text) {
        Some("deny") => true,
        Some("allow" | "ask_user") => false,
        _ => return Err("`decision` must be allow, deny or ask_user".into()),
    };
    let priority = match rule.get("priority").map(|node| &node.value) {
        Some(Value::Integer(priority @ 0..=999)) => *priority,
        _ => return Err("a rule needs `priority`, a whole number from 0 to 999".into()),
    };
    let conditions = [
        "subagent",
        "mcpName",
        "argsPattern",
        "commandPrefix",
        "commandRegex",
        "modes",
        "interactive",
        "toolAnnotations",
    ];
    let condition = conditions.into_iter().find(|condition| rule.get(condition).is_some());
    let condition = condition.map(|condition| format!("it holds only as its `{condition}` says"));
    Ok(names
        .into_iter()
        .map(|tool| Rule {
            priority: tier.0 + priority,
            tool: tool.to_owned(),
            denies,
            depends: depends.map(str::to_owned).or_else(|| condition.clone()),
            layer: tier.1,
            origin: document.origin(rule.at),
            what: format!("a policy rule {} {tool:?}", if denies { "denies" } else { "allows" }),
        })
        .collect())
}
