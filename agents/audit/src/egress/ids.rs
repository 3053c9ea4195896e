//! The numbers of the records: every attempt has one, so a number that is missing is a record that is missing.

use std::collections::BTreeMap;

/// A proxy that takes a dead one's place begins at the next billion and one.
const EACH: u64 = 1_000_000_000;

/// So many stretches of numbers are told apart; a log that is whole has one for each proxy.
const MOST: usize = 100_000;

/// Numbers, as stretches without a gap.
#[derive(Debug, Default)]
struct Numbers {
    /// First and last of each stretch.
    stretches: BTreeMap<u64, u64>,
    /// Numbers that found no place any more.
    overflown: bool,
}

impl Numbers {
    fn contains(&self, number: u64) -> bool {
        self.stretches.range(..=number).next_back().is_some_and(|(_, last)| *last >= number)
    }

    fn insert(&mut self, number: u64) {
        let before = self
            .stretches
            .range_mut(..=number)
            .next_back()
            .filter(|(_, last)| **last >= number.saturating_sub(1));
        let begins_next = number.saturating_add(1);
        match before {
            Some((_, last)) if *last >= number => {}
            Some((first, last)) => {
                let first = *first;
                *last = number;
                if let Some(end) = self.stretches.remove(&begins_next) {
                    self.stretches.insert(first, end);
                }
            }
            None => match self.stretches.remove(&begins_next) {
                Some(end) => {
                    self.stretches.insert(number, end);
                }
                None if self.stretches.len() >= MOST => self.overflown = true,
                None => {
                    self.stretches.insert(number, number);
                }
            },
        }
    }
}

/// The runs of a log, one after the other: a number that comes again is another run's.
#[derive(Debug, Default)]
pub(super) struct Runs {
    past: u64,
    missing: u64,
    gaps: Vec<(u64, u64)>,
    more_gaps: u64,
    proxies: u64,
    unended: u64,
    overflown: bool,
    ended: Numbers,
    opened: Numbers,
}

/// What the numbers say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Wholeness {
    pub(super) runs: u64,
    /// Proxies that took a dead one's place.
    pub(super) restarts: u64,
    pub(super) missing: u64,
    /// First and last missing number of the first gaps.
    pub(super) gaps: Vec<(u64, u64)>,
    pub(super) more_gaps: u64,
    /// Flows that have opened and have no record.
    pub(super) unended: u64,
    /// There were more gaps than could be told apart.
    pub(super) overflown: bool,
}

/// So many gaps are told one by one.
const MOST_GAPS: usize = 20;

impl Runs {
    pub(super) fn opened(&mut self, id: u64) {
        if self.ended.contains(id) || self.opened.contains(id) {
            self.close();
        }
        self.opened.insert(id);
    }

    pub(super) fn ended(&mut self, id: u64) {
        if self.ended.contains(id) {
            self.close();
        }
        self.ended.insert(id);
    }

    /// What was said of the run so far is counted, and another begins.
    fn close(&mut self) {
        let (ended, opened) = (std::mem::take(&mut self.ended), std::mem::take(&mut self.opened));
        if ended.stretches.is_empty() && opened.stretches.is_empty() {
            return;
        }
        self.past += 1;
        self.overflown |= ended.overflown | opened.overflown;
        let mut block = None;
        let mut next = 1;
        for (first, last) in &ended.stretches {
            let own = (first - 1) / EACH;
            if block != Some(own) {
                self.proxies += u64::from(block.is_some() || own > 0);
                block = Some(own);
                next = own * EACH + 1;
            }
            if *first > next {
                self.gap(next, first - 1);
            }
            next = last.saturating_add(1);
        }
        // Flows that have opened: those whose record is there are in a stretch of ended ones.
        for (first, last) in &opened.stretches {
            self.unended += unended(&ended, *first, *last);
        }
    }

    fn gap(&mut self, first: u64, last: u64) {
        self.missing = self.missing.saturating_add(last - first + 1);
        match self.gaps.len() < MOST_GAPS {
            true => self.gaps.push((first, last)),
            false => self.more_gaps += 1,
        }
    }

    pub(super) fn wholeness(mut self) -> Wholeness {
        self.close();
        Wholeness {
            runs: self.past,
            restarts: self.proxies,
            missing: self.missing,
            gaps: self.gaps,
            more_gaps: self.more_gaps,
            unended: self.unended,
            overflown: self.overflown,
        }
    }
}

/// How many of these numbers are not among those that have ended.
fn unended(ended: &Numbers, first: u64, last: u64) -> u64 {
    let mut left = last - first + 1;
    let from = ended.stretches.range(..=first).next_back().map_or(first, |(start, _)| *start);
    for (start, end) in ended.stretches.range(from..=last) {
        let (start, end) = ((*start).max(first), (*end).min(last));
        if start <= end {
            left = left.saturating_sub(end - start + 1);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(ids: &[u64]) -> Wholeness {
        let mut runs = Runs::default();
        ids.iter().for_each(|id| runs.ended(*id));
        runs.wholeness()
    }

    /// Records come as the attempts end, not as they begin.
    #[test]
    fn a_whole_log_in_any_order() {
        let whole = told(&[3, 1, 2, 5, 4]);
        assert_eq!((whole.runs, whole.missing, whole.restarts), (1, 0, 0));
        assert_eq!(told(&[]), Wholeness::default());
    }

    #[test]
    fn gaps() {
        let found = told(&[2, 3, 7]);
        assert_eq!((found.missing, found.gaps), (4, vec![(1, 1), (4, 6)]));
        assert_eq!(told(&[u64::MAX]).restarts, 1);
    }

    #[test]
    fn a_proxy_that_took_a_dead_ones_place() {
        let found = told(&[1, 2, EACH + 1, EACH + 2, 2 * EACH + 2]);
        assert_eq!((found.runs, found.restarts, found.missing), (1, 2, 1));
        assert_eq!(found.gaps, [(2 * EACH + 1, 2 * EACH + 1)]);
    }

    #[test]
    fn several_runs_in_one_file() {
        let found = told(&[1, 2, 3, 2, 1, 1]);
        assert_eq!((found.runs, found.missing), (3, 0));
    }

    #[test]
    fn flows_that_never_ended() {
        let mut runs = Runs::default();
        for id in [1, 2, 3, 5] {
            runs.opened(id);
        }
        for id in [2, 4] {
            runs.ended(id);
        }
        let found = runs.wholeness();
        assert_eq!((found.runs, found.unended), (1, 3));
        assert_eq!(found.missing, 2);
    }

    /// G16: a log that is nothing but gaps does not fill the memory.
    #[test]
    fn many_gaps() {
        let mut runs = Runs::default();
        (0..2 * MOST as u64).for_each(|n| runs.ended(2 * n + 2));
        let found = runs.wholeness();
        assert!(found.overflown && found.gaps.len() == MOST_GAPS && found.more_gaps > 0);
    }
}
