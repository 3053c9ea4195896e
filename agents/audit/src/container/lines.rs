//! Places of many findings in one file, each in short time.

use closedbook_document::Place;

/// So many bytes are counted at most for one place.
const BLOCK: usize = 1024;

/// Where lines begin, and how many characters there are before each block.
pub(super) struct Lines<'a> {
    source: &'a [u8],
    starts: Vec<usize>,
    characters: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        let newlines = source.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        let mut before = 0;
        let mut characters = Vec::new();
        for block in source.chunks(BLOCK) {
            characters.push(before);
            before += count(block);
        }
        characters.push(before);
        Self { source, starts, characters }
    }

    pub(super) fn place(&self, at: usize) -> Place {
        let at = at.min(self.source.len());
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        Place { line, column: self.before(at) - self.before(start) + 1 }
    }

    fn before(&self, at: usize) -> usize {
        let block = at / BLOCK;
        let whole = self.characters.get(block).copied().unwrap_or_default();
        whole + self.source.get(block * BLOCK..at).map_or(0, count)
    }
}

/// Bytes that begin a character.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_places_as_one_by_one() {
        let source = format!("a\n{}\u{e4}b\n\nc", "\u{e4}x".repeat(3000));
        let lines = Lines::new(source.as_bytes());
        for (at, _) in source.char_indices().chain([(source.len(), ' '), (source.len() + 9, ' ')]) {
            assert_eq!(lines.place(at), Place::of(source.as_bytes(), at.min(source.len())), "{at}");
        }
    }
}
