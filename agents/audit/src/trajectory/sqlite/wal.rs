//! The write-ahead log: pages that are newer than the file's.

use std::collections::HashMap;

use super::Outcome;
use super::bytes::u32_at;

/// What a log holds.
pub(super) struct Wal {
    /// Where in the log the newest committed state of a page stands.
    pub(super) newer: HashMap<u32, usize>,
    /// How many pages the database has after the last commit; `None` if there is none.
    pub(super) pages: Option<u32>,
}

/// Reads a log up to its last commit. What stands after it never happened, and what does not belong to this log is left
/// from an earlier one: both are ordinary.
pub(super) fn read(log: &[u8], page_size: usize) -> Outcome<Wal> {
    let nothing = Wal { newer: HashMap::new(), pages: None };
    if log.len() < 32 {
        return Err("its write-ahead log is cut off within the header".into());
    }
    let swapped = match u32_at(log, 0) {
        Some(0x377f_0682) => true,
        Some(0x377f_0683) => false,
        _ => return Err("its write-ahead log is none".into()),
    };
    let declared = u32_at(log, 8).unwrap_or(0) as usize;
    if declared != page_size {
        return Err(format!("its write-ahead log has pages of {declared} bytes, the file of {page_size}"));
    }
    let salts = log.get(16..24).unwrap_or_default();
    let mut sum = checksum(log.get(..24).unwrap_or_default(), (0, 0), swapped);
    if (u32_at(log, 24), u32_at(log, 28)) != (Some(sum.0), Some(sum.1)) {
        // SQLite takes such a log for an empty one.
        return Ok(nothing);
    }
    let mut wal = nothing;
    let mut uncommitted = Vec::new();
    let mut at = 32;
    while let Some(frame) = log.get(at..at + 24 + page_size) {
        let (head, page) = frame.split_at(24);
        if head.get(8..16) != Some(salts) {
            break;
        }
        sum = checksum(page, checksum(head.get(..8).unwrap_or_default(), sum, swapped), swapped);
        if (u32_at(head, 16), u32_at(head, 20)) != (Some(sum.0), Some(sum.1)) {
            break;
        }
        uncommitted.push((u32_at(head, 0).unwrap_or(0), at + 24));
        if let Some(pages) = u32_at(head, 4).filter(|pages| *pages > 0) {
            wal.newer.extend(uncommitted.drain(..));
            wal.pages = Some(pages);
        }
        at += 24 + page_size;
    }
    Ok(wal)
}

fn checksum(bytes: &[u8], (mut a, mut b): (u32, u32), swapped: bool) -> (u32, u32) {
    for pair in bytes.chunks_exact(8) {
        let (first, second) = pair.split_at(4);
        let word = |bytes: &[u8]| {
            let bytes: [u8; 4] = bytes.try_into().unwrap_or_default();
            if swapped { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
        };
        a = a.wrapping_add(word(first)).wrapping_add(b);
        b = b.wrapping_add(word(second)).wrapping_add(a);
    }
    (a, b)
}
