//! What is made of bytes that anybody may have sent, without doing any of it.

use super::lines::Lines;
use super::message::{self, NoRequest, Request};
use super::method::Method;

/// What each line of these pieces is answered with, if it can be told without a proxy: none where it would be done.
pub(crate) fn answers(pieces: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    let mut lines = Lines::default();
    let mut answers = Vec::new();
    for piece in pieces {
        lines.push(piece);
        answers.extend(std::iter::from_fn(|| lines.next()).map(|line| match line {
            Ok(line) => answer(&line),
            Err(fault) => Some(message::answer(serde_json::Value::Null, Err(fault))),
        }));
    }
    answers.extend(lines.rest().map(|line| answer(&line)));
    answers
}

fn answer(line: &[u8]) -> Option<Vec<u8>> {
    match Request::parse(line) {
        Err(NoRequest { id, fault }) => Some(message::answer(id, Err(fault))),
        Ok(Request { id, method, params }) => {
            let fault = Method::read(&method, params, line.len()).err()?;
            Some(message::answer(id.unwrap_or_default(), Err(fault)))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Parts of requests, whole and broken.
    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "{\"jsonrpc\":\"2.0\"",
            ",\"id\":1",
            ",\"id\":{}",
            ",\"method\":\"status\"",
            ",\"method\":\"phase.set\"",
            ",\"params\":{\"name\":\"agent\"",
            ",\"widen\":true",
            ",\"cut\":\"all\"",
            "}",
            "\n",
            "[",
            "]",
            " ",
            "\u{0}",
            "\\",
            "\"",
        ])
    }

    proptest! {
        /// G16: whatever is said, and however it is cut.
        #[test]
        fn lines_of_anything(pieces in prop::collection::vec(piece(), 0..60)) {
            crate::fuzzing::control_lines(pieces.concat().as_bytes());
        }
    }
}
