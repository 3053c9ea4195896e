//! An environment that lies: whatever is broken, nothing passes because of it.
//!
//! The sidecar is the sound one, on which everything passes; so what does not pass, does not pass for the lie alone.

use closedbook_canary::report::{Judgement, Overall};
use serde_json::{Value, json};

use crate::rig::{judge, run, stages};
use crate::support::{as_mode, modes, program};

/// Enough for every kind of control, and over in a second.
const SOME: [&str; 9] = [
    "allow-https",
    "allow-http",
    "tls-sni-blocked-name",
    "tls-ip-literal-no-sni",
    "http-plain-unfiltered",
    "udp-any",
    "l4-icmp-echo",
    "ip6-global",
    "client-curl",
];

/// Judges a sound sidecar where this is so without it and with it, or only with it.
fn where_this_is_so(always: Value, later: Value) -> Judgement {
    let mode = modes()[0];
    let job = |more: [&Value; 2]| {
        let mut job = json!({"stages": stages(&["phase"]), "only": SOME, "capabilities": ["net_raw"]});
        let fields = more.into_iter().filter_map(Value::as_object).flatten();
        fields.for_each(|(key, value)| job[key] = value.clone());
        job
    };
    let open = json!({"open": true});
    judge(&run(mode, &job([&always, &open])), &run(mode, &job([&always, &later])))
}

#[track_caller]
fn is_inconclusive(judgement: &Judgement, about: &str) {
    let reasons = judgement.reasons.join("\n");
    assert_eq!(judgement.overall, Overall::Inconclusive, "{reasons}");
    assert!(reasons.contains(about), "{about}: {reasons}");
}

/// The control of all that follows.
#[test]
fn the_truth_passes() {
    let judgement = where_this_is_so(json!({}), json!({}));
    assert_eq!(judgement.overall, Overall::Pass, "{}", judgement.reasons.join("\n"));
}

/// A permitted host that is down is not one that was let through.
#[test]
fn a_permitted_server_that_is_down() {
    for fault in ["reset", "dns-missing", "dns-failure"] {
        let down = json!({"faults": [format!("api.anthropic.com {fault}")]});
        is_inconclusive(&where_this_is_so(down.clone(), json!({})), "allow-https");
        is_inconclusive(&where_this_is_so(json!({}), down), "allow-https");
    }
}

/// Who trusts another authority than the servers' can't tell whether it was they who answered.
#[test]
fn another_authority() {
    let mut command = as_mode(modes()[0], true);
    command.arg(program()).args(["lab", "exec", "--", "sh", "-c", "cat \"$SSL_CERT_FILE\""]);
    let certificate = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(certificate.starts_with("-----BEGIN CERTIFICATE-----"), "{certificate}");
    is_inconclusive(&where_this_is_so(json!({"trust": certificate}), json!({})), "allow-https");
}

/// A clock that is a year off: every certificate has expired, or is not good yet.
#[test]
fn a_clock_that_is_a_year_off() {
    for fault in ["expired", "not-yet"] {
        let all =
            ["api.anthropic.com", "auth.openai.com", "witness.test"].map(|host| format!("{host} {fault}"));
        is_inconclusive(&where_this_is_so(json!({"faults": all}), json!({})), "allow-https");
    }
}

/// A witness that nobody can reach sees nothing, and that is no news.
#[test]
fn a_witness_that_is_dead_from_the_start() {
    let dead = json!({"dead": ["203.0.113.200", "2001:db8::2:200"]});
    is_inconclusive(&where_this_is_so(dead.clone(), json!({})), "tls-sni-blocked-name");
    is_inconclusive(&where_this_is_so(json!({}), dead), "the witness was not shown to be alive");
}

/// One that died on the way may have missed what mattered.
#[test]
fn a_witness_that_dies() {
    let dies = json!({"dies": ["203.0.113.200"]});
    is_inconclusive(&where_this_is_so(json!({}), dies), "the witness was not shown to be alive");
}

/// A witness without IPv6 says nothing about IPv6.
#[test]
fn a_witness_without_ipv6() {
    is_inconclusive(&where_this_is_so(json!({"dead": ["2001:db8::2:200"]}), json!({})), "ip6-global");
}
