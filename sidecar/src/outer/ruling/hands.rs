//! Work on very many flows, shared out among threads of its own for as long as it takes.

use std::thread;

/// Fewer are no work for another thread.
const SHARE: usize = 128;

/// Threads at once. More than processors, since what competes with them are the threads that move the bytes of thousands of
/// busy flows: each thread more is one more share of the processors' time.
const HANDS: usize = 16;

/// Does it for each. All is done when this returns.
pub(super) fn for_each<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    let share = all.len().div_ceil(HANDS).max(SHARE);
    let mut shares = all.chunks(share);
    let own = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        for share in shares {
            let started = thread::Builder::new()
                .name("switch".to_owned())
                .spawn_scoped(scope, || share.iter().for_each(&work));
            if started.is_err() {
                // No thread can be had: then it takes longer.
                share.iter().for_each(&work);
            }
        }
        own.iter().for_each(&work);
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn each_is_done_once() {
        for count in [0, 1, SHARE, SHARE + 1, HANDS * SHARE - 1, HANDS * SHARE, HANDS * SHARE + 1, 5000] {
            let all: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
            for_each(&all, |one| {
                one.fetch_add(1, Ordering::Relaxed);
            });
            assert!(all.iter().all(|one| one.load(Ordering::Relaxed) == 1), "{count}");
        }
    }
}
