use super::*;

#[test]
fn reads_what_serde_reads() {
    for text in [
        r#"{"a":[1,-2.5e3,true,false,null,"x\"\\\/\b\f\n\r\tü\u00e9\ud83d\ude00"],"b":{}}"#,
        "[]",
        " 0 ",
        r#""plain""#,
        r#"[[],{"k":[{}]}]"#,
    ] {
        let ours = parse(text).unwrap();
        let theirs: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(plain(&ours), theirs, "{text}");
    }
}

#[test]
fn refuses_what_serde_refuses() {
    for text in [
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "01",
        "1.",
        "-",
        "1e",
        "tru",
        "\"\\x\"",
        "\"\\u12\"",
        "\"a",
        "{a:1}",
        "1 2",
        "\"\n\"",
        "[1 2]",
        "{\"a\" 1}",
    ] {
        let fault = parse(text).unwrap_err();
        assert!(fault.at <= text.len());
        assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text}");
    }
}

#[test]
fn half_a_surrogate_pair_is_no_fault() {
    assert_eq!(parse(r#""a\ud83db""#).unwrap().as_text(), Some("a\u{fffd}b"));
    assert_eq!(parse(r#""\udc00\ud83d\u0041""#).unwrap().as_text(), Some("\u{fffd}\u{fffd}A"));
}

#[test]
fn a_second_field_does_not_hide_the_first() {
    let value = parse(r#"{"a":1,"a":2}"#).unwrap();
    assert_eq!(value.fields().len(), 2);
    assert_eq!(value.get("a"), Some(&Json::Number("2")));
}

#[test]
fn g16_depth_is_bounded() {
    let text = "[".repeat(100_000);
    assert!(parse(&text).unwrap_err().what.contains("too deeply"));
}

fn plain(value: &Json<'_>) -> serde_json::Value {
    match value {
        Json::Null => serde_json::Value::Null,
        Json::Boolean(value) => (*value).into(),
        Json::Number(text) => serde_json::from_str(text).unwrap(),
        Json::Text(text) => text.as_ref().into(),
        Json::List(items) => items.iter().map(plain).collect(),
        Json::Table(fields) => fields.iter().map(|(k, v)| (k.to_string(), plain(v))).collect(),
    }
}
