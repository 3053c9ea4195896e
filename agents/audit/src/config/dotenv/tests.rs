use super::*;

fn pairs(text: &str) -> Vec<(String, String)> {
    read(text).into_iter().map(|entry| (entry.name, entry.value)).collect()
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Read side by side with python-dotenv 1.2.1.
#[test]
fn lines_are_read_as_python_dotenv_reads_them() {
    for (text, expected) in [
        ("A=false", &[("A", "false")][..]),
        ("export A=\"false\" # c", &[("A", "false")]),
        ("A = false", &[("A", "false")]),
        ("A: false", &[]),
        ("A=fa lse #x", &[("A", "fa lse")]),
        ("A=a#b", &[("A", "a#b")]),
        ("A='a", &[]),
        ("A=1\nA=2", &[("A", "1"), ("A", "2")]),
        ("A=\"a\nb\"\nB=1", &[("A", "a\nb"), ("B", "1")]),
        ("# A=1\n\nB=2\r\n", &[("B", "2")]),
        ("A=", &[("A", "")]),
    ] {
        assert_eq!(pairs(text), owned(expected), "{text:?}");
    }
}

/// G16: every beginning of a text is read without a fault.
#[test]
fn no_text_panics() {
    let text = "export É=\"a\\n'\" # x\nB='\\''\n=\n'C'=ü\"\nD=\\";
    for (at, _) in text.char_indices() {
        read(&text[..at]);
    }
}
