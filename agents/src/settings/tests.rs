use super::*;
use crate::row::ProbeFile;
use crate::table::Table as Agents;

fn probe(files: &[(&str, &str)]) -> Probe {
    let files = files.iter().map(|(path, text)| ProbeFile { path: (*path).into(), text: (*text).into() });
    Probe {
        args: vec!["-p".into(), "{prompt}".into()],
        provider: "anthropic".into(),
        env: [("KEY".into(), "k".into())].into(),
        files: files.collect(),
    }
}

fn switches(text: &str) -> Vec<Switch> {
    #[derive(serde::Deserialize)]
    struct All {
        all: Vec<Switch>,
    }
    toml::from_str::<All>(&format!("all = [{text}]")).unwrap().all
}

fn set(files: &[(&str, &str)], text: &str) -> Result<Settings, Unsettable> {
    Settings::of(&probe(files), "hi", &switches(text))
}

#[test]
fn flags_come_after_the_prompt_and_once() {
    let text = r#"{ flag = "--off", value = "A,B" }, { flag = "--off", value = "A,B" }, { flag = "--strict" },
        { env = "OFF", value = "1" }, { env = "OFF", value = "1" }"#;
    let settings = set(&[], text).unwrap();
    assert_eq!(settings.args, ["-p", "hi", "--off", "A,B", "--strict"]);
    assert_eq!(settings.env, [("KEY".into(), "k".into()), ("OFF".into(), "1".into())].into());
    assert_eq!(settings.files, BTreeMap::new());
    assert_eq!(set(&[], "").unwrap().args, ["-p", "hi"]);
}

#[test]
fn keys_of_one_file_are_one_document() {
    let text = r#"{ file = "~/.a/s.json", key = "permissions.deny", value = ["A"] },
        { file = "~/.a/s.json", key = "permissions.deny", value = ["A", "B"] },
        { file = "~/.a/s.json", key = "off", value = true },
        { file = "~/.c/c.toml", key = "x.y.z", value = 1 },
        { file = "~/.c/c.yaml", key = "x.y", value = false }"#;
    let settings =
        set(&[("~/.a/s.json", r#"{ "kept": 1, "permissions": { "allow": [] } }"#), ("~/.b", "plain")], text)
            .unwrap();
    let json: serde_json::Value = serde_json::from_str(&settings.files["~/.a/s.json"]).unwrap();
    let expected =
        serde_json::json!({ "kept": 1, "permissions": { "allow": [], "deny": ["A", "B"] }, "off": true });
    assert_eq!(json, expected);
    assert_eq!(settings.files["~/.c/c.toml"], "[x.y]\nz = 1\n");
    let yaml = closedbook_document::Format::Yaml.read(&settings.files["~/.c/c.yaml"]).unwrap();
    assert_eq!(yaml.at_path(&["x", "y"]).unwrap().boolean(), Some(false));
    assert_eq!(settings.files["~/.b"], "plain");
}

/// G15: what can't be set is not left out.
#[test]
fn what_cannot_be_set_is_an_error() {
    let one = |text: &str| {
        set(&[("~/s.json", r#"{ "a": 1 }"#), ("~/t.toml", "="), ("~/u.json", "[1]")], text).unwrap_err()
    };
    assert!(matches!(one(r#"{ env = "KEY", value = "other" }"#), Unsettable::Contradiction(_)));
    assert!(matches!(one(r#"{ file = "~/s.json", key = "a", value = 2 }"#), Unsettable::Contradiction(_)));
    assert!(matches!(one(r#"{ file = "~/s.json", key = "a.b", value = 2 }"#), Unsettable::NoTable { .. }));
    assert!(matches!(one(r#"{ file = "~/settings", key = "a", value = 2 }"#), Unsettable::Syntax(_)));
    assert!(matches!(one(r#"{ file = "~/t.toml", key = "a", value = 2 }"#), Unsettable::NoDocument { .. }));
    assert!(matches!(one(r#"{ file = "~/u.json", key = "a", value = 2 }"#), Unsettable::NoDocument { .. }));
}

/// Every row can be probed with all of its switches.
#[test]
fn all_rows_can_be_set() {
    let table = Agents::embedded().unwrap();
    for row in table.rows() {
        let Some((usable, probe)) = row.usable().and_then(|usable| Some((usable, usable.probe.as_ref()?)))
        else {
            continue;
        };
        assert!(probe.args.iter().any(|arg| arg.contains(PROMPT)), "{}", row.name);
        let switches = usable.tools.iter().flat_map(|tool| &tool.switches);
        Settings::of(probe, "hi", switches).unwrap_or_else(|error| panic!("{}: {error}", row.name));
    }
}
