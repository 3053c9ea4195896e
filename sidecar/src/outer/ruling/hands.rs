//! Work on very many flows, shared out among threads of its own for as long as it takes.

use std::thread;

/// Fewer are no work for another thread.
const SHARE: usize = 128;

/// Threads at once. More than processors, since what competes with them are the threads that move the bytes of thousands of
/// busy flows: each thread more is one more share of the processors' time.
const HANDS: usize = 16;

/// Does it for each. All is done when this returns.
pub(super) fn for_each<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    share(all, &work, HANDS);
}

/// Each thread gives half of its work away before it begins: one that had to start all the others would be the last to
/// begin.
fn share<T: Sync>(all: &[T], work: &(impl Fn(&T) + Sync), hands: usize) {
    if hands < 2 || all.len() <= SHARE {
        return all.iter().for_each(work);
    }
    let (own, other) = all.split_at(all.len() / 2);
    thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, || share(other, work, hands / 2));
        share(own, work, hands / 2);
        if started.is_err() {
            // No thread can be had: then it takes longer.
            other.iter().for_each(work);
        }
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
