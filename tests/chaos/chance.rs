//! Random numbers that can be had again.

use std::hash::{BuildHasher, RandomState};

/// A seed that nobody chose, short enough to be typed.
pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one(0) % 1_000_000
}

/// xorshift64*: good enough to choose faults by.
pub(crate) struct Chance(u64);

impl From<u64> for Chance {
    fn from(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
}

impl Chance {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % bound
    }
}
