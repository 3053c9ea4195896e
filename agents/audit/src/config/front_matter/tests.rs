use closedbook_document::Place;

use super::*;

#[test]
fn places_are_those_of_the_whole_file() {
    let source = b"---\nname: reader\ntools:\n  webfetch: true\n---\nRead things.\n";
    let node = read(source).unwrap().unwrap();
    let tools = node.at_path(&["tools", "webfetch"]).unwrap();
    assert_eq!(Place::of(source, tools.at).line, 4);
    assert_eq!(tools.boolean(), Some(true));
}

#[test]
fn a_file_without_a_head_has_no_settings() {
    for source in ["", "text", "--- \ntext", "---\n---\nx", "----\na: 1\n---\n", "\n---\na: 1\n---\n"] {
        assert_eq!(read(source.as_bytes()), Ok(None), "{source:?}");
    }
}

/// G16.
#[test]
fn what_is_no_yaml_is_an_error_with_its_place() {
    let source = b"---\nname: x\ntools: [a\n---\n";
    assert!(read(source).is_err());
    assert_eq!(read(b"---\n\xff\n---\n").unwrap_err().at, 4);
}
