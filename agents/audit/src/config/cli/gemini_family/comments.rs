//! Comments in JSON, made blanks.

/// A text whose comments are blanks: places in it stay what they are.
pub(super) fn blanked(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut state = State::Outside;
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied();
        let (new, width, is_comment) = match (state, byte, next) {
            (State::Outside, b'"', _) => (State::Text, 1, false),
            (State::Outside, b'/', Some(b'/')) => (State::Line, 2, true),
            (State::Outside, b'/', Some(b'*')) => (State::Block, 2, true),
            (State::Text, b'\\', _) => (State::Text, 2, false),
            (State::Text, b'"', _) => (State::Outside, 1, false),
            (State::Line, b'\n' | b'\r', _) => (State::Outside, 1, false),
            (State::Block, b'*', Some(b'/')) => (State::Outside, 2, true),
            (State::Line | State::Block, _, _) => (state, 1, true),
            (State::Outside | State::Text, _, _) => (state, 1, false),
        };
        if is_comment {
            for byte in bytes.iter_mut().skip(at).take(width).filter(|byte| !byte.is_ascii_whitespace()) {
                *byte = b' ';
            }
        }
        state = new;
        at += width;
    }
    bytes
}

#[derive(Clone, Copy)]
enum State {
    Outside,
    Text,
    Line,
    Block,
}

#[cfg(test)]
mod tests {
    use super::blanked;

    #[test]
    fn comments_are_blanks_and_texts_stay() {
        for (source, expected) in [
            ("{\"a\": \"//x\"} // y", "{\"a\": \"//x\"}     "),
            ("/* a\nb */{\"c\\\"/*\": 1}", "    \n    {\"c\\\"/*\": 1}"),
            ("// a\r\n1", "    \r\n1"),
            ("/* never", "        "),
            ("\"never \\", "\"never \\"),
            ("/", "/"),
        ] {
            assert_eq!(blanked(source.as_bytes().to_vec()), expected.as_bytes(), "{source}");
        }
    }
}
