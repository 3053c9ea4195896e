//! The octets of `/bytes/N`: the first N of an endless stream that looks random, is the same in every lab, and costs
//! nothing to send.
//!
//! The stream is one block over and over. The block is what xorshift64* gives for the seed 1, eight octets a step,
//! little-endian. Its length is a prime just above a mebibyte, so that no buffer size divides it and octets that were
//! lost, doubled or moved by a buffer can't go unnoticed.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use bytes::Bytes;
use ring::digest::{Context, SHA256};

use crate::witness::hex;

/// Length of the block.
pub const PERIOD: u64 = 1_048_583;
/// Hashes kept; each costs 64 octets and may have cost seconds.
const KNOWN_HASHES: usize = 1024;

static BLOCK: LazyLock<Bytes> = LazyLock::new(block);
static HASHES: LazyLock<Mutex<HashMap<u64, String>>> = LazyLock::new(Mutex::default);

/// A piece of the stream from `offset` on: at least one octet, at most up to the end of the block. Not copied.
pub fn piece(offset: u64, longest: u64) -> Bytes {
    let start = offset % PERIOD;
    let end = PERIOD.min(start.saturating_add(longest.max(1)));
    // Both are at most PERIOD, the block's length.
    BLOCK.slice(start as usize..end as usize)
}

/// SHA-256 of the first `count` octets, in hex. Takes about a second per gigabyte the first time.
pub fn sha256(count: u64) -> String {
    if let Some(known) = HASHES.lock().unwrap_or_else(PoisonError::into_inner).get(&count) {
        return known.clone();
    }
    let mut context = Context::new(&SHA256);
    let mut offset = 0;
    while offset < count {
        let piece = piece(offset, count - offset);
        offset += piece.len() as u64;
        context.update(&piece);
    }
    let hash = hex(context.finish().as_ref());
    let mut known = HASHES.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() < KNOWN_HASHES {
        known.insert(count, hash.clone());
    }
    hash
}

/// Whether `octets` are those that stand at `offset`.
pub fn matches(offset: u64, octets: &[u8]) -> bool {
    let mut rest = octets;
    let mut offset = offset;
    while !rest.is_empty() {
        let piece = piece(offset, rest.len() as u64);
        let Some(after) = rest.strip_prefix(piece.as_ref()) else { return false };
        offset += piece.len() as u64;
        rest = after;
    }
    true
}

fn block() -> Bytes {
    let mut octets = Vec::with_capacity(PERIOD as usize + 8);
    let mut state: u64 = 1;
    while octets.len() < PERIOD as usize {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        octets.extend(state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes());
    }
    octets.truncate(PERIOD as usize);
    octets.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_without_a_seam() {
        let mut all = Vec::new();
        while (all.len() as u64) < 3 * PERIOD + 17 {
            all.extend(piece(all.len() as u64, 100_003));
        }
        assert!(matches(0, &all));
        assert!(matches(5, &all[5..]));
        assert!(!matches(6, &all[5..]));
        all[2_000_000] ^= 1;
        assert!(!matches(0, &all));
    }

    #[test]
    fn the_hash_is_that_of_the_octets() {
        for count in [0, 1, PERIOD - 1, PERIOD, 2 * PERIOD + 3] {
            let mut octets = Vec::new();
            while (octets.len() as u64) < count {
                octets.extend(piece(octets.len() as u64, count - octets.len() as u64));
            }
            assert_eq!(octets.len() as u64, count);
            assert_eq!(sha256(count), hex(ring::digest::digest(&SHA256, &octets).as_ref()));
        }
    }

    #[test]
    fn the_stream_is_the_documented_one() {
        // First output of xorshift64* for seed 1.
        assert_eq!(piece(0, 8).as_ref(), 0x47e4_ce4b_896c_dd1d_u64.to_le_bytes());
    }
}
