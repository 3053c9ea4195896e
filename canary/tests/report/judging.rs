//! What passes, and that nothing else does (G14: an error, a missing tool or a dead server is inconclusive, which is not a
//! pass).

use crate::sample::{API, REGISTRY, arrival, evidence, outcome, tries};
use closedbook_canary::report::judgement::{Judgement, judge, judge_waiving};
use closedbook_canary::report::{Evidence, Overall, Waivers};
use closedbook_canary::{Level, Seen, Want};

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
