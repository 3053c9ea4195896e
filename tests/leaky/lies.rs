//! An environment that lies: whatever is broken, nothing passes because of it.
//!
//! The sidecar is the sound one, on which everything passes; so what does not pass, does not pass for the lie alone.

use closedbook_canary::report::{Judgement, Overall};
use serde_json::{Value, json};

use crate::rig::{LEVELS, Run, baseline, judge, run, stages};
use crate::support::{as_mode, modes, program};

/// The sound sidecar where this is so, or none.
fn where_this_is_so(lie: &Value, open: bool) -> Run {
    let mut job = lie.clone();
    job["stages"] = stages(&["phase"], &LEVELS);
    if open {
        job["open"] = true.into();
        job["capabilities"] = json!(["net_raw"]);
    }
    run(modes()[0], &job)
}

/// Where it is so with the sidecar, and was not without.
fn later(lie: &Value) -> Judgement {
    judge(baseline(modes()[0]), &where_this_is_so(lie, false))
}

/// Where it always was. Each run has a lab of its own, so both are made at once.
fn always(lie: &Value) -> Judgement {
    std::thread::scope(|scope| {
        let open = scope.spawn(|| where_this_is_so(lie, true));
        let sealed = where_this_is_so(lie, false);
        judge(&open.join().unwrap(), &sealed)
    })
}

#[track_caller]
fn is_inconclusive(judgement: &Judgement, about: &str) {
    let reasons = judgement.reasons.join("\n");
    assert_eq!(judgement.overall, Overall::Inconclusive, "{reasons}");
    assert!(reasons.contains(about), "{about}: {reasons}");
}

/// A permitted host that is down is not one that was let through.
#[test]
fn a_permitted_server_that_is_down() {
    is_inconclusive(&always(&json!({"faults": ["api.anthropic.com reset"]})), "allow-https");
}

/// The same, when it went down between the baseline and the trial.
#[test]
fn a_permitted_server_that_goes_down() {
    is_inconclusive(&later(&json!({"faults": ["api.anthropic.com reset"]})), "allow-https");
}

/// The same, when nobody can say where it is.
#[test]
fn a_permitted_server_without_a_resolver() {
    is_inconclusive(&later(&json!({"faults": ["api.anthropic.com dns-failure"]})), "allow-https");
}

/// Who trusts another authority than the servers' can't tell whether it was they who answered.
#[test]
fn another_authority() {
    let mut command = as_mode(modes()[0], true);
    command.arg(program()).args(["lab", "exec", "--", "sh", "-c", "cat \"$SSL_CERT_FILE\""]);
    let certificate = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(certificate.starts_with("-----BEGIN CERTIFICATE-----"), "{certificate}");
    is_inconclusive(&always(&json!({"trust": certificate})), "allow-https");
}

/// A clock that is a year ahead: every certificate has expired.
#[test]
fn a_clock_that_is_a_year_ahead() {
    is_inconclusive(&always(&all_hosts("expired")), "allow-https");
}

/// A clock that is a year behind: no certificate is good yet.
#[test]
fn a_clock_that_is_a_year_behind() {
    is_inconclusive(&always(&all_hosts("not-yet")), "allow-https");
}

fn all_hosts(fault: &str) -> Value {
    let hosts = ["api.anthropic.com", "auth.openai.com", "registry.npmjs.org", "witness.test"];
    json!({"faults": hosts.map(|host| format!("{host} {fault}"))})
}

/// A witness that nobody can reach sees nothing, and that is no news.
#[test]
fn a_witness_that_is_dead_from_the_start() {
    let dead = json!({"dead": ["203.0.113.200", "2001:db8::2:200"]});
    is_inconclusive(&always(&dead), "tls-sni-blocked-name");
    is_inconclusive(&later(&dead), "the witness was not shown to be alive");
}

/// One that died on the way may have missed what mattered.
#[test]
fn a_witness_that_dies() {
    is_inconclusive(&later(&json!({"dies": ["203.0.113.200"]})), "the witness was not shown to be alive");
}

/// A witness without IPv6 says nothing about IPv6.
#[test]
fn a_witness_without_ipv6() {
    is_inconclusive(&always(&json!({"dead": ["2001:db8::2:200"]})), "ip6-global");
}

/// What was asked for and can't be had is not a pass.
#[test]
fn curl_that_is_asked_for_and_missing() {
    let judgement = later(&json!({"missing": ["curl"], "only": ["client-curl"]}));
    is_inconclusive(&judgement, "were not tried");
    let said = judgement.probes.iter().map(|probe| probe.because.as_str()).collect::<Vec<_>>();
    assert!(!said.is_empty() && said.iter().all(|why| *why == "the image has no curl"), "{said:?}");
}
