use super::*;

fn words(script: &str) -> Vec<String> {
    tokens(script)
        .into_iter()
        .filter_map(|token| match token {
            Token::Word(word) => Some(
                word.parts
                    .iter()
                    .map(|part| match part {
                        Part::Plain(text) | Part::Quoted(text) => text.clone(),
                        Part::Variable { name, .. } => format!("<{name}>"),
                        Part::Output { script, .. } => format!("[{script}]"),
                        Part::Process(script) => format!("({script})"),
                        Part::Array(inner) => format!("{{{inner}}}"),
                    })
                    .collect(),
            ),
            _ => None,
        })
        .collect()
}

#[test]
fn quotes_are_taken_off() {
    assert_eq!(
        words(
            r#"c""url 'ht'tp://x"y"\z $'\x63url' cu\
rl"#
        ),
        ["curl", "http://xyz", "curl", "curl"]
    );
    assert_eq!(words("echo # curl\ncurl#x"), ["echo", "curl#x"]);
    assert_eq!(words(r#"a "b $C d" ${E:-f}"#), ["a", "b <C> d", "<E:-f>"]);
    assert_eq!(words("x $(a \")\" $(b)) `c`"), ["x", "[a \")\" $(b)]", "[c]"]);
    assert_eq!(words("a=(curl x) <(curl y)"), ["a={curl x}", "(curl y)"]);
}

#[test]
fn here_documents_are_texts() {
    let found = tokens("cat <<'E' > f\ncurl $x\nE\necho b");
    assert!(
        found.contains(&Token::Redirect(Redirect::Text(Word {
            parts: vec![Part::Quoted("curl $x\n".into())]
        })))
    );
    assert_eq!(words("cat <<E\ncurl\nE\necho b"), ["cat", "echo", "b"]);
    assert_eq!(words("cmd 2>/dev/null 2>&1 >&2 &>all"), ["cmd"]);
}

#[test]
fn g16_nothing_that_a_task_writes_stops_it() {
    for script in [
        "'",
        "\"",
        "$(",
        "${",
        "`",
        "<<",
        "<<E",
        "\\",
        "$'",
        "(((",
        ")))",
        "<(",
        "a=(",
        "$((",
        "|||&&&;;;",
        "$",
        "\u{0}",
    ] {
        tokens(script);
        tokens(&script.repeat(1000));
    }
}
