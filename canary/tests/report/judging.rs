//! What passes, and that nothing else does (G14: an error, a missing tool or a dead server is inconclusive, which is not a
//! pass).

use crate::sample::{API, REGISTRY, arrival, evidence, nonce, outcome, tries};
use closedbook_canary::report::judgement::{FLOOR, Judgement, judge, judge_waiving};
use closedbook_canary::report::{Evidence, Overall, Waivers};
use closedbook_canary::{Level, Seen, Want};
use proptest::prelude::*;
use proptest::sample::Index;

#[track_caller]
fn says(evidence: &Evidence, overall: Overall, what: &str) -> Judgement {
    let judgement = judge(evidence);
    assert_eq!(judgement.overall, overall, "{:#?}", judgement.reasons);
    assert!(
        judgement.reasons.iter().any(|reason| reason.contains(what)),
        "no reason says {what:?}: {:#?}",
        judgement.reasons
    );
    judgement
}

#[test]
fn a_closed_book_passes() {
    let judgement = judge(&evidence());
    assert_eq!(judgement.reasons, Vec::<String>::new());
    assert_eq!(judgement.overall, Overall::Pass);
}

#[test]
fn an_empty_report_passes_nothing() {
    says(&Evidence::default(), Overall::Inconclusive, "no phase was tried");
    let mut nothing = evidence();
    nothing.stages.clear();
    says(&nothing, Overall::Inconclusive, "agent: nothing was tried");
    let mut hollow = evidence();
    hollow.stages.iter_mut().for_each(|stage| stage.outcomes.clear());
    says(&hollow, Overall::Inconclusive, "udp-any was not tried");
}

#[test]
fn one_level_is_not_two() {
    let mut agent_alone = evidence();
    agent_alone.stages.retain(|stage| stage.level == Level::Agent);
    says(&agent_alone, Overall::Inconclusive, "start the canary as root");
    let mut root_alone = evidence();
    root_alone.stages.retain(|stage| stage.level == Level::Root);
    says(&root_alone, Overall::Inconclusive, "agent/agent: nothing was tried");
}

/// Where no program can raise itself, there is no root to be.
#[test]
fn without_a_way_to_root_the_agents_level_is_all() {
    let mut powerless = evidence();
    powerless.stages.retain(|stage| stage.level == Level::Agent);
    powerless.stages.iter_mut().for_each(|stage| stage.surroundings.no_new_privs = true);
    let judgement = judge(&powerless);
    assert_eq!(judgement.overall, Overall::Pass, "{:#?}", judgement.reasons);
    assert!(judgement.warnings.iter().any(|warning| warning.contains("root was not tried")));
    powerless.stages.iter_mut().for_each(|stage| {
        stage.surroundings.no_new_privs = false;
        stage.surroundings.no_root = true;
    });
    assert_eq!(judge(&powerless).overall, Overall::Pass);
}

#[test]
fn a_missing_phase_is_told() {
    let mut short = evidence();
    short.stages.retain(|stage| stage.phase != "agent");
    says(&short, Overall::Inconclusive, "agent: nothing was tried");
}

#[test]
fn a_missing_switch_is_told() {
    let mut short = evidence();
    short.stages.retain(|stage| stage.moment != closedbook_canary::Moment::Switch);
    says(&short, Overall::Inconclusive, "agent/root: nothing was tried across the switch to it");
}

#[test]
fn what_is_needed_by_nothing_cant_be_left_out() {
    let mut skipped = evidence();
    for stage in &mut skipped.stages {
        for outcome in &mut stage.outcomes {
            outcome.tries.clear();
            outcome.skipped = Some("the image has no curl".to_owned());
        }
    }
    let judgement = says(&skipped, Overall::Inconclusive, "udp-any can't be left out");
    assert!(judgement.reasons.iter().any(|reason| reason.contains("for which there was no reason")));
}

/// A phase without a permitted host is no mistake; one whose host was not asked is.
#[test]
fn every_permitted_host_is_asked() {
    let mut unasked = evidence();
    let tries = &mut outcome(&mut unasked, "setup", Level::Root, "allow-https").tries;
    tries.retain(|attempt| attempt.to != REGISTRY);
    says(&unasked, Overall::Inconclusive, "registry.npmjs.org is permitted, and was not asked");
}

#[test]
fn a_permitted_host_that_is_refused_fails() {
    let mut refused = evidence();
    outcome(&mut refused, "agent", Level::Agent, "allow-https").tries[0].seen =
        Seen::Alert { description: 49 };
    says(&refused, Overall::Fail, "api.anthropic.com is permitted, and was refused");
}

/// What does not answer where nothing is in its way either was not refused by what is tested.
#[test]
fn a_permitted_host_that_is_down_is_inconclusive() {
    for seen in [Seen::Alert { description: 49 }, Seen::Silence, Seen::failed("the clock is wrong")] {
        let mut down = evidence();
        outcome(&mut down, "agent", Level::Agent, "allow-https").tries[0].seen = seen;
        for stage in &mut down.baseline.as_mut().unwrap().stages {
            for outcome in stage.outcomes.iter_mut().filter(|outcome| outcome.id == "allow-https") {
                outcome.tries.iter_mut().for_each(|attempt| attempt.seen = Seen::Silence);
            }
        }
        says(&down, Overall::Inconclusive, "api.anthropic.com");
    }
}

#[test]
fn an_empty_baseline_is_none() {
    let mut bare = evidence();
    bare.baseline.as_mut().unwrap().stages.clear();
    says(&bare, Overall::Inconclusive, "the baseline is empty");
}

#[test]
fn what_is_seen_from_outside_counts_more() {
    let mut leaky = evidence();
    let id = "udp-any";
    let attempt = outcome(&mut leaky, "agent", Level::Root, id).tries[0].clone();
    leaky.witness.as_mut().unwrap().arrivals.push(arrival(&attempt));
    says(&leaky, Overall::Fail, "agent/root: udp-any: leak");
    // Even where he says that he did not see everything.
    leaky.witness.as_mut().unwrap().alive = false;
    says(&leaky, Overall::Fail, "agent/root: udp-any: leak");
}

#[test]
fn suspicions_can_be_waived_and_leaks_cannot() {
    let waivers = |id: &str| {
        Waivers::from_text(&format!(
            "[[waive]]\nid = {id:?}\nphase = \"agent\"\nlevel = \"root\"\nreason = \"seen\""
        ))
        .unwrap()
    };
    let mut suspect = evidence();
    outcome(&mut suspect, "agent", Level::Root, "udp-any").tries[0].seen =
        Seen::Octets { text: "hello".to_owned() };
    says(&suspect, Overall::Fail, "udp-any: suspect");
    let waived = judge_waiving(&suspect, &waivers("udp-any"));
    assert_eq!((waived.overall, &waived.reasons), (Overall::Pass, &Vec::new()));
    assert!(
        waived.warnings.iter().any(|warning| warning.contains("udp-any") && warning.contains("waived: seen"))
    );

    let other = judge_waiving(&suspect, &waivers("http-plain-unfiltered"));
    assert_eq!(other.overall, Overall::Fail);
    assert!(other.warnings.iter().any(|warning| warning.contains("waives nothing")));

    let mut leak = evidence();
    outcome(&mut leak, "agent", Level::Root, "udp-any").tries[0].seen = Seen::Proof { proof: "p".to_owned() };
    assert_eq!(judge_waiving(&leak, &waivers("udp-any")).overall, Overall::Fail);
    let mut unknown = evidence();
    outcome(&mut unknown, "agent", Level::Root, "udp-any").tries[0].seen = Seen::failed("no socket");
    assert_eq!(judge_waiving(&unknown, &waivers("udp-any")).overall, Overall::Inconclusive);
}

#[test]
fn waivers_give_their_reasons_and_name_probes_that_there_are() {
    for (text, why) in [
        ("[[waive]]\nid = \"udp-any\"\nreason = \" \"", "no reason"),
        ("{\"waive\": [{\"id\": \"udp-some\", \"reason\": \"r\"}]}", "no probe"),
        ("[[waive]]\nid = \"udp-any\"", "reason"),
        ("[[waive]]\nid = \"udp-any\"\nreason = \"r\"\nforever = true", "forever"),
    ] {
        let error = Waivers::from_text(text).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

/// Being kept waiting is no way out.
#[test]
fn slowness_is_a_warning() {
    let mut slow = evidence();
    outcome(&mut slow, "agent", Level::Root, "udp-any").tries[0].ms = 2500;
    let judgement = judge(&slow);
    assert_eq!(judgement.overall, Overall::Pass);
    assert!(judgement.warnings.iter().any(|warning| warning.contains("udp-any: blocked-slow")));
}

/// Ways in which evidence can be of several pieces.
#[test]
fn mixed_evidence_does_not_pass() {
    type Damage = fn(&mut Evidence);
    let damages: [(&str, Damage); 16] = [
        ("belongs to run", |e| e.stages[0].run = "another".to_owned()),
        ("was tried under policy", |e| e.stages[0].policy = Some("0".repeat(64))),
        ("stands twice", |e| e.stages.push(e.stages[0].clone())),
        ("its nonce", |e| {
            let first = tries(e).next().unwrap().nonce.clone();
            tries(e).nth(1).unwrap().nonce = first;
        }),
        ("has no nonce", |e| tries(e).next().unwrap().nonce = serde_json::from_str("\"\"").unwrap()),
        ("is no probe of the catalogue", |e| e.stages[0].outcomes[0].id = "tls-made-up".to_owned()),
        ("asks for nothing that could fail", |e| {
            let outcome = outcome(e, "agent", Level::Root, "udp-any");
            outcome
                .tries
                .iter_mut()
                .for_each(|attempt| (attempt.want, attempt.seen) = (Want::Absent, Seen::NotFound));
        }),
        ("is no permitted host of this phase", |e| {
            outcome(e, "agent", Level::Root, "allow-https").tries[0].want = Want::reached(REGISTRY);
        }),
        ("an address where nobody lives", |e| {
            let attempt = &mut outcome(e, "agent", Level::Root, "udp-any").tries[0];
            (attempt.nowhere, attempt.aimed) = (true, Some("8.8.8.8".parse().unwrap()));
        }),
        ("takes what arrives for harmless", |e| {
            outcome(e, "agent", Level::Root, "udp-any").tries[0].two_way = true;
        }),
        ("and not the one it names", |e| {
            e.policy = e.policy.as_ref().map(|text| text.replace(API, "api.example"))
        }),
        ("is not what the policy permits", |e| {
            e.aims.get_mut("agent").unwrap().permitted.clear();
        }),
        ("does not say what was aimed at", |e| {
            e.aims.remove("agent");
        }),
        ("is no phase that was to be tried", |e| e.stages[0].phase = "verifier".to_owned()),
        ("has schema 2", |e| e.schema = 2),
        ("the baseline is not of one run", |e| {
            e.baseline.as_mut().unwrap().stages[0].run = "other".to_owned()
        }),
    ];
    for (what, damage) in damages {
        let mut damaged = evidence();
        damage(&mut damaged);
        let judgement = judge(&damaged);
        assert_ne!(judgement.overall, Overall::Pass, "{what}");
        assert!(
            judgement.reasons.iter().any(|reason| reason.contains(what)),
            "{what}: {:#?}",
            judgement.reasons
        );
    }
}

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
