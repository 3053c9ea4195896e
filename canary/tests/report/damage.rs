//! G14: *the canary cannot pass by accident*. Whatever single damage is done to evidence that passes, it does not pass any more.

use closedbook_canary::report::judgement::{FLOOR, judge};
use closedbook_canary::report::{Evidence, Overall};
use closedbook_canary::{Seen, Want};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::sample::{arrival, evidence, nonce, tries};

/// One thing that can happen to evidence on its way, or to the canary at work.
#[derive(Debug, Clone)]
enum Damage {
    DropOutcome(Index),
    DropFloor(Index, Index),
    DropTries(Index),
    Seen(Index, u8),
    DropControl(Index),
    LoseBaseline,
    Lost(u64),
    Dead,
    NoWitness,
    Arrives(Index),
    Skip(Index),
    Broken(Index),
    DropStage(Index),
    Copy(Index, Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<Index>;
    prop_oneof![
        index().prop_map(Damage::DropOutcome),
        (index(), index()).prop_map(|(a, b)| Damage::DropFloor(a, b)),
        index().prop_map(Damage::DropTries),
        (index(), 0_u8..6).prop_map(|(a, b)| Damage::Seen(a, b)),
        index().prop_map(Damage::DropControl),
        Just(Damage::LoseBaseline),
        (1_u64..).prop_map(Damage::Lost),
        Just(Damage::Dead),
        Just(Damage::NoWitness),
        index().prop_map(Damage::Arrives),
        index().prop_map(Damage::Skip),
        index().prop_map(Damage::Broken),
        index().prop_map(Damage::DropStage),
        (index(), index()).prop_map(|(a, b)| Damage::Copy(a, b)),
    ]
}

fn do_damage(evidence: &mut Evidence, damage: Damage) {
    match damage {
        Damage::DropOutcome(which) => {
            let stage = stage_with_outcomes(evidence, which);
            let place = which.index(stage.outcomes.len());
            stage.outcomes.remove(place);
        }
        Damage::DropFloor(which, probe) => {
            let stages: Vec<_> =
                evidence.stages.iter_mut().filter(|s| s.moment == closedbook_canary::Moment::Phase).collect();
            let place = which.index(stages.len());
            let id = FLOOR[probe.index(FLOOR.len())];
            stages.into_iter().nth(place).unwrap().outcomes.retain(|outcome| outcome.id != id);
        }
        Damage::DropTries(which) => tried(evidence, which).tries.clear(),
        Damage::Seen(which, what) => {
            let all: Vec<_> = tries(evidence).filter(|attempt| attempt.want != Want::Absent).collect();
            let place = which.index(all.len());
            let attempt = all.into_iter().nth(place).unwrap();
            attempt.seen = match (what, &attempt.want) {
                (0, _) => Seen::failed("no memory"),
                (1, Want::Stopped) => Seen::Proof { proof: String::new() },
                (2, Want::Stopped) => Seen::Octets { text: "220 ready".to_owned() },
                (3, Want::Stopped) => Seen::TlsReply { text: "ServerHello".to_owned() },
                (4, Want::Stopped) => Seen::Verified { name: "example.com".to_owned(), status: 200 },
                (1..=4, Want::Reached { .. }) => Seen::Silence,
                (_, Want::Reached { .. }) => Seen::Reset,
                _ => Seen::failed("no descriptor"),
            };
        }
        Damage::DropControl(which) => {
            let ids: Vec<_> = evidence
                .tries()
                .filter(|(.., attempt)| matters(&attempt.want))
                .map(|(_, outcome, attempt)| (outcome.id.clone(), attempt.what.clone()))
                .collect();
            let (id, what) = ids[which.index(ids.len())].clone();
            for stage in &mut evidence.baseline.as_mut().unwrap().stages {
                for outcome in stage.outcomes.iter_mut().filter(|outcome| outcome.id == id) {
                    outcome.tries.retain(|attempt| attempt.what != what);
                }
            }
        }
        Damage::LoseBaseline => evidence.baseline = None,
        Damage::Lost(number) => evidence.witness.as_mut().unwrap().lost = number,
        Damage::Dead => evidence.witness.as_mut().unwrap().alive = false,
        Damage::NoWitness => evidence.witness = None,
        Damage::Arrives(which) => {
            let all: Vec<_> = evidence
                .tries()
                .map(|(.., attempt)| attempt)
                .filter(|attempt| matters(&attempt.want))
                .collect();
            let arrived = arrival(all[which.index(all.len())]);
            evidence.witness.as_mut().unwrap().arrivals.push(arrived);
        }
        Damage::Skip(which) => {
            let outcome = tried(evidence, which);
            outcome.tries.clear();
            outcome.skipped = Some("the image has no curl".to_owned());
        }
        Damage::Broken(which) => tried(evidence, which).broken = Some("not over after 15 s".to_owned()),
        Damage::DropStage(which) => {
            let place = which.index(evidence.stages.len());
            evidence.stages.remove(place);
        }
        Damage::Copy(from, to) => {
            let count = tries(evidence).count();
            let (from, to) = (from.index(count), to.index(count - 1));
            let to = if to >= from { to + 1 } else { to };
            let copied = tries(evidence).nth(from).unwrap().nonce.clone();
            tries(evidence).nth(to).unwrap().nonce = copied;
        }
    }
}

/// A try whose failure has to be shown to mean something.
fn matters(want: &Want) -> bool {
    matches!(want, Want::Stopped)
}

fn stage_with_outcomes(evidence: &mut Evidence, which: Index) -> &mut closedbook_canary::engine::Stage {
    let stages: Vec<_> = evidence.stages.iter_mut().filter(|stage| !stage.outcomes.is_empty()).collect();
    let place = which.index(stages.len());
    stages.into_iter().nth(place).unwrap()
}

fn tried(evidence: &mut Evidence, which: Index) -> &mut closedbook_canary::engine::Outcome {
    let stages = evidence.stages.iter_mut();
    let outcomes =
        stages.flat_map(|stage| stage.outcomes.iter_mut()).filter(|outcome| !outcome.tries.is_empty());
    let outcomes: Vec<_> = outcomes.collect();
    let place = which.index(outcomes.len());
    outcomes.into_iter().nth(place).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    /// G14: from evidence that passes, no single damage leads to evidence that passes.
    #[test]
    fn no_single_damage_passes(damage in damage()) {
        let mut damaged = evidence();
        do_damage(&mut damaged, damage);
        prop_assert_ne!(judge(&damaged).overall, Overall::Pass);
    }

    /// What is nothing of this run's changes nothing, and only its number is kept.
    #[test]
    fn others_arrivals_count_for_nothing(number in 0x1_0000_0000_u64..) {
        let mut noisy = evidence();
        let mut other = tries(&mut evidence()).next().unwrap().clone();
        other.nonce = nonce(number);
        noisy.witness.as_mut().unwrap().arrivals.push(arrival(&other));
        prop_assert_eq!(judge(&noisy).overall, Overall::Pass);
        let kept = noisy.trimmed().witness.unwrap();
        prop_assert_eq!((kept.arrivals.len(), kept.others), (0, 4));
    }
}
