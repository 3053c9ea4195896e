//! What must hold for every input, however hostile (G16). Called by the fuzz target; panics where it does not hold.

use crate::offer::{How, Offer, Reach, Tape, Weight, judge};

/// A tape is read or malformed; what is read of it never says more than it shows.
pub fn tape(bytes: &[u8]) {
    const NAMES: [&str; 2] = ["WebSearch", "web__run"];
    let tape = match Tape::read("tape", bytes) {
        Ok(tape) => tape,
        Err(malformed) => return assert!(!malformed.to_string().is_empty()),
    };
    let offer = Offer::read(&tape, &String::from_utf8_lossy(bytes), &NAMES);
    let weight = judge(&NAMES, &offer, &offer).weight();
    let is_clear = offer.turns > 0 && offer.unread.is_empty();
    assert!(is_clear || weight >= Weight::Unknown);
    // G15: a web tool that is offered with the switches is a failure, however it is offered.
    let is_web = offer.web().any(|(tool, reach)| reach == Reach::Web && tool.how != How::Mentioned);
    assert!(!is_web || weight == Weight::Failure);
}
