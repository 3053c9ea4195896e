use super::*;

fn wrong(format: Format, source: &str) -> String {
    let fault = format.read(source).unwrap_err();
    format!("{}: {fault}", Place::of(source.as_bytes(), fault.at))
}

/// One meaning in all four syntaxes, and a place for every value and key.
#[test]
fn the_same_tree_from_every_syntax() {
    for (format, source) in [
        (Format::Json, "{\"a\": {\"b\": [\"x\", 1, true]},\n \"c\": \"\u{e4}\"}"),
        (Format::Jsonc, "{\"a\": {/* why */ \"b\": [\"x\", 1, true,]},\n \"c\": \"\u{e4}\" // end\n}"),
        (Format::Toml, "a.b = [\"x\", 1, true]\nc = \"\u{e4}\""),
        (Format::Yaml, "a:\n  b: [x, 1, true]\nc: \"\u{e4}\""),
    ] {
        let root = format.read(source).unwrap();
        let items: Vec<&Value> =
            root.at_path(&["a", "b"]).unwrap().items().iter().map(|item| &item.value).collect();
        assert_eq!(
            items,
            [&Value::Text("x".into()), &Value::Integer(1), &Value::Boolean(true)],
            "{format:?}"
        );
        let last = root.get("c").unwrap();
        assert_eq!(last.text(), Some("\u{e4}"));
        assert!(source[last.at..].starts_with("\"\u{e4}\""), "{format:?}");
        let (key, _) = root.fields().find(|(key, _)| key.text == "c").unwrap();
        assert!(source[key.at..].trim_start_matches('"').starts_with('c'), "{format:?}");
    }
}

#[test]
fn a_fault_names_its_place() {
    for (format, source, expected) in [
        (Format::Json, "{\"a\": 1,}", "line 1, column 9: key must be a string"),
        (Format::Json, "{\n// no\n}", "line 2, column 1: key must be a string"),
        (Format::Json, "", "line 1, column 1: EOF while parsing a value"),
        (Format::Jsonc, "{a: 1}", "line 1, column 2: "),
        (Format::Jsonc, "{'a': 1}", "line 1, column 2: "),
        (Format::Jsonc, "{\"a\": 1 \"b\": 2}", "line 1, column "),
        (Format::Jsonc, " ", "line 1, column 1: there is no value in it"),
        (Format::Toml, "a = 1\na = 2", "line 2, column 1: the key \"a\" stands here a second time"),
        (Format::Toml, "a = ", "line 1, column "),
        (Format::Yaml, "a: 1\na: 2", "line 2, column 1: the key \"a\" stands here a second time"),
        (Format::Yaml, "a: [1, 2", "line "),
        (Format::Yaml, "a: *b", "line 1, column 4: "),
        (Format::Yaml, "a: 1\n---\nb: 2", "line 3, column 1: a second document begins here"),
        (Format::Yaml, "", "line 1, column 1: there is no value in it"),
    ] {
        let found = wrong(format, source);
        assert!(found.starts_with(expected), "{format:?} {source:?}: {found}");
    }
}

/// Which of two equal keys counts is what JavaScript, Python and Go do: the last.
#[test]
fn the_last_of_two_equal_keys_counts_in_json() {
    for format in [Format::Json, Format::Jsonc] {
        let root = format.read("{\"a\": 1, \"a\": 2}").unwrap();
        assert_eq!(root.get("a").unwrap().value, Value::Integer(2));
        assert_eq!(root.fields().count(), 2);
    }
}

/// G16: no text takes memory or stack without bound.
#[test]
fn depth_size_and_aliases_are_bounded() {
    for format in [Format::Json, Format::Jsonc, Format::Yaml, Format::Toml] {
        for depth in [100, 5_000, 100_000] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let text = if format == Format::Toml { format!("a = {text}") } else { text };
            // Whatever the answer is, it comes.
            let _ = format.read(&text);
        }
        assert!(matches!(format.read(&" ".repeat(LONGEST + 1)).unwrap_err().what, Syntax::TooLarge { .. }));
        assert!(matches!(
            format.read_bytes(b"\"\xff\"").unwrap_err(),
            Unreadable { at: 1, what: Syntax::NotUtf8 }
        ));
    }
    let mut laughs = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for n in 1..12 {
        let items = vec![format!("*a{}", n - 1); 9].join(", ");
        laughs += &format!("a{n}: &a{n} [{items}]\n");
    }
    assert!(wrong(Format::Yaml, &laughs).contains("more than"));
}

#[test]
fn yaml_as_its_readers_take_it() {
    let source = "base: &b {x: 1, y: 2}\none:\n  <<: *b\n  x: 3\ntwo: {<<: [*b, {z: 4}]}\nn: no\ns: !!str 1\nt: '1'\nh: 0x10";
    let root = Format::Yaml.read(source).unwrap();
    let at = |path: &[&str]| root.at_path(path).unwrap().value.clone();
    assert_eq!(at(&["one", "x"]), Value::Integer(3));
    assert_eq!(at(&["one", "y"]), Value::Integer(2));
    assert_eq!(at(&["two", "z"]), Value::Integer(4));
    assert_eq!(at(&["n"]), Value::Text("no".into()));
    assert_eq!(at(&["s"]), Value::Text("1".into()));
    assert_eq!(at(&["t"]), Value::Text("1".into()));
    assert_eq!(at(&["h"]), Value::Integer(16));
}

#[test]
fn several_documents_of_yaml() {
    let count = |source: &str| Format::Yaml.read_all(source).map(|found| found.len());
    assert_eq!(count("a: 1\n---\nb: 2\n---\n"), Ok(2));
    assert_eq!(count("---\n# nothing\n---\na: 1\n...\n"), Ok(1));
    assert_eq!(count(""), Ok(0));
    assert_eq!(count("null"), Ok(1));
    // An anchor of another document is nothing to alias.
    assert!(count("a: &x 1\n---\nb: *x").is_err());
    let second = Format::Yaml.read_all("a: 1\n---\nb: 2").unwrap().pop().unwrap();
    assert_eq!(second.get("b").unwrap().at, 12);
    assert_eq!(Format::Json.read_all("{}").unwrap().len(), 1);
}

/// What `!reset` takes away in a compose file is not there, whatever stands behind it.
#[test]
fn a_tag_of_its_own_hides_the_value() {
    let root = Format::Yaml.read("a: !reset [ALL]\nb: !override [ALL]\nc: !x 1\nd: !!map {e: 1}").unwrap();
    assert_eq!(root.get("a").unwrap().value.kind(), "a value under a tag of its own");
    assert_eq!(root.get("b").unwrap().items().len(), 1);
    assert_eq!(root.get("c").unwrap().text(), None);
    assert!(root.at_path(&["d", "e"]).is_some());
}

/// G16: the place of a value costs what lies between it and the one before. Counted from the line's beginning each time,
/// this would take minutes.
#[test]
fn one_long_line_is_read_in_its_own_time() {
    let source = format!("a: [{}]", "1, ".repeat(150_000));
    let root = Format::Yaml.read(&source).unwrap();
    assert_eq!(root.get("a").unwrap().items().last().unwrap().at, source.len() - 4);
}
