//! Each part is killed at moments that nobody chose.

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use crate::start;
use crate::support::life::Part;
use crate::support::modes;

/// Moments tried for each part in each mode.
const MOMENTS: u64 = 4;

/// Longer than a run takes to start.
const START_MS: u64 = 160;

fn random(below: u64) -> u64 {
    RandomState::new().hash_one(0) % below
}

/// G6: while the parts are being started, in whatever state that is. Killed as soon as it is there, or a moment later.
#[test]
fn while_it_starts() {
    for &mode in modes() {
        for part in [Part::Supervisor, Part::Proxy, Part::Init, Part::Lab] {
            for moment in 0..MOMENTS {
                let mut life = start(mode);
                let pause = if moment == 0 { 0 } else { random(START_MS) };
                thread::sleep(Duration::from_millis(pause));
                let deadline = Instant::now() + Duration::from_secs(10);
                while !life.kill(part) {
                    assert!(Instant::now() < deadline, "{mode:?}: no {part:?}");
                    thread::yield_now();
                }
                let ended = life.end();
                assert!(!ended.witness.contains("N0NCE-after"), "{mode:?}, {part:?}, {pause} ms: {ended:?}");
                let panicked = ended.errors.contains("panicked");
                assert!(!panicked, "{mode:?}, {part:?}, {pause} ms: {ended:?}");
            }
        }
    }
}

/// G6: while the command tries to get out without pause.
#[test]
fn while_it_runs() {
    for &mode in modes() {
        for part in [Part::Supervisor, Part::Proxy, Part::Init, Part::Lab] {
            let mut life = start(mode);
            assert_eq!(life.say("stream"), "flowing");
            assert_eq!(life.say("restless"), "restless");
            thread::sleep(Duration::from_millis(random(40)));
            assert!(life.kill(part));
            // A command without a proxy tries on; its end is not of its choosing.
            if part == Part::Proxy || part == Part::Lab {
                thread::sleep(Duration::from_millis(random(40)));
                assert!(life.kill(Part::Init));
            }
            let ended = life.end();
            assert!(!ended.witness.contains("N0NCE-after"), "{mode:?}, {part:?}: {ended:?}");
        }
    }
}
