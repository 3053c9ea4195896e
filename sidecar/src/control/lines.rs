//! Cuts a stream into lines, in bounded memory.

use super::fault::{Fault, Word};

/// The longest line: a policy document as a string of JSON.
pub(super) const LONGEST: usize = 1024 * 1024;

/// What was received and not yet taken as lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    held: Vec<u8>,
    /// So much of it was searched for a line's end already.
    searched: usize,
    /// The rest of a line that was too long is still coming.
    skipping: bool,
}

impl Lines {
    /// Takes in what was received. To be called when [`Lines::next`] has no more.
    pub(super) fn push(&mut self, news: &[u8]) {
        self.held.extend_from_slice(news);
    }

    /// The next whole line, without its end; or that one was too long, once for each such line.
    pub(super) fn next(&mut self) -> Option<Result<Vec<u8>, Fault>> {
        loop {
            let fresh = self.held.get(self.searched..).unwrap_or_default();
            let Some(end) = fresh.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.held.len();
                if self.skipping {
                    self.clear();
                } else if self.held.len() > LONGEST {
                    self.clear();
                    self.skipping = true;
                    return Some(Err(too_long()));
                }
                return None;
            };
            let mut line: Vec<u8> = self.held.drain(..=self.searched + end).collect();
            self.searched = 0;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            line.pop();
            match line.trim_ascii() {
                [] => {}
                _ if line.len() > LONGEST => return Some(Err(too_long())),
                _ => return Some(Ok(line)),
            }
        }
    }

    /// What is left when the other side has ended: a last line may lack its end.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        let left = std::mem::take(&mut self.held);
        self.searched = 0;
        (!self.skipping && !left.trim_ascii().is_empty()).then_some(left)
    }

    fn clear(&mut self) {
        self.held = Vec::new();
        self.searched = 0;
    }
}

fn too_long() -> Fault {
    Fault::new(Word::LineTooLong, format!("a line may have {LONGEST} bytes at most"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(lines: &mut Lines) -> Vec<Option<Vec<u8>>> {
        std::iter::from_fn(|| lines.next()).map(Result::ok).collect()
    }

    #[test]
    fn lines_are_cut_and_blank_ones_left_out() {
        let mut lines = Lines::default();
        lines.push(b"a\n\r\n  \nb\r\nc");
        assert_eq!(all(&mut lines), [Some(b"a".to_vec()), Some(b"b\r".to_vec())]);
        assert_eq!(lines.rest(), Some(b"c".to_vec()));
        assert_eq!(lines.rest(), None);
    }

    /// G16: a line without end takes no more memory than the longest, is complained about once, and the next is heard.
    #[test]
    fn endless_line() {
        let mut lines = Lines::default();
        let piece = [b'x'; 64 * 1024];
        let mut faults = 0;
        for _ in 0..100 {
            lines.push(&piece);
            faults += std::iter::from_fn(|| lines.next()).filter(Result::is_err).count();
            assert!(lines.held.len() <= LONGEST + piece.len());
        }
        assert_eq!(faults, 1);
        lines.push(b"end\nnext\n");
        assert_eq!(all(&mut lines), [Some(b"next".to_vec())]);
    }

    #[test]
    fn a_line_cut_off_while_it_is_skipped_is_nothing() {
        let mut lines = Lines::default();
        lines.push(&vec![b'x'; LONGEST + 1]);
        assert_eq!(all(&mut lines), [None]);
        lines.push(b"more");
        assert_eq!(all(&mut lines), []);
        assert_eq!(lines.rest(), None);
    }

    proptest! {
        /// However the bytes come, the lines are the same.
        #[test]
        fn cut_anywhere(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200), sizes in proptest::collection::vec(1usize..9, 1..200)) {
            let mut whole = Lines::default();
            whole.push(&bytes);
            let expected = (all(&mut whole), whole.rest());
            let mut pieces = Lines::default();
            let mut found = Vec::new();
            let mut rest = &bytes[..];
            for size in sizes.into_iter().cycle() {
                let (piece, left) = rest.split_at(size.min(rest.len()));
                pieces.push(piece);
                found.extend(all(&mut pieces));
                rest = left;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!((found, pieces.rest()), expected);
        }
    }
}
