use super::*;

fn flags(words: &[&str]) -> Layer {
    let set = |(n, word): (usize, &&str)| {
        let (path, value) = word.split_once('=').unwrap();
        let value = Format::Json.read(value).unwrap();
        let path = path.split('.').map(str::to_owned).collect();
        Assignment { path, value, origin: Origin::Argument { number: n + 1 } }
    };
    Layer::assignments("flag", words.iter().enumerate().map(set).collect())
}

/// Measured with Codex 0.162.0: `-c features.plugins=false -c 'features={apps=false}'` leaves plugins on.
#[test]
fn a_later_assignment_replaces_what_lies_below_its_path() {
    let layer = flags(&["features.plugins=false", r#"features={"apps":false}"#]);
    assert!(layer.get(&["features", "plugins"]).is_none());
    assert_eq!(layer.get(&["features", "apps"]).unwrap().value.boolean(), Some(false));
    let layer = flags(&["a=1", "a=2"]);
    assert_eq!(layer.get(&["a"]).unwrap().origin, Origin::Argument { number: 2 });
}

#[test]
fn names_are_found_however_deep_they_are_set() {
    let layers = [flags(&["mcp.a.url=1", r#"mcp={"b":{},"c":{}}"#, "other.d=1"]), flags(&["mcp.c.url=1"])];
    assert_eq!(names(&layers, &["mcp"]), ["a", "b", "c"]);
}

#[test]
fn every_value_comes_with_its_path() {
    let layer = flags(&[r#"a={"b":{"c":1}}"#]);
    let paths: Vec<String> = layer.every().into_iter().map(|(path, _)| path.join(".")).collect();
    assert_eq!(paths, ["a", "a.b", "a.b.c"]);
}

#[test]
fn the_stronger_layer_comes_first() {
    let layers = [flags(&["a=1"]), flags(&["b=1"]), flags(&["a=2"])];
    let values: Vec<String> = find(&layers, &["a"]).iter().map(|found| brief(found.value)).collect();
    assert_eq!(values, ["2", "1"]);
}
