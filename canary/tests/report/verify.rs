//! Reports: whole, signed, and what is refused.

use std::process::Command;

use closedbook_canary::report::document::{LARGEST, Report, Unreadable};
use closedbook_canary::report::judgement::judge;
use closedbook_canary::report::signature::{BadSignature, Signatory, Signer};
use closedbook_canary::report::verify::{Demands, Verification, verify};
use closedbook_canary::report::{Evidence, Overall};
use closedbook_canary::{Level, Seen};
use serde_json::{Value, json};

use crate::sample::{evidence, outcome, tries};

const NOW: &str = "2026-12-02T00:00:00Z";

fn report() -> Report {
    Report::of(evidence())
}

fn verified(report: &Report) -> Verification {
    verify(report, Demands::default(), NOW)
}

#[track_caller]
fn refused(report: &Report, demands: Demands, what: &str) {
    let verification = verify(report, demands, NOW);
    assert_eq!(verification.code(), 1);
    assert!(!verification.passes());
    let said: Vec<&str> = verification.refusals.iter().map(|refusal| refusal.what.as_str()).collect();
    assert!(said.iter().any(|said| said.contains(what)), "nothing says {what:?}: {said:#?}");
    assert!(verification.refusals.iter().all(|refusal| !refusal.remedy.is_empty()));
}

#[test]
fn a_report_is_judged_again_from_its_text_alone() {
    let read = Report::parse(report().to_json().as_bytes()).unwrap();
    assert_eq!(read, report());
    let verification = verified(&read);
    assert_eq!(verification.refusals, Vec::new());
    assert_eq!(verification.judgement, read.judgement);
    assert!(verification.passes());
}

/// The digest is what anybody can make of the file: sorted keys, no spaces.
#[test]
fn the_digest_is_that_of_the_canonical_json() {
    let report = report();
    let file: Value = serde_json::from_str(&report.to_json()).unwrap();
    let script = "import hashlib,json,sys\nreport=json.load(sys.stdin)\n\
        both={k:report[k] for k in ('evidence','judgement')}\n\
        text=json.dumps(both,sort_keys=True,separators=(',',':'),ensure_ascii=False)\n\
        print(hashlib.sha256(text.encode()).hexdigest())";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let output = Command::new("python3")
        .args(["-c", script])
        .stdin(std::fs::File::open(&path).unwrap())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), report.digest);
}

#[test]
fn an_edited_report_is_refused() {
    let mut edited = report();
    outcome(&mut edited.evidence, "agent", Level::Root, "udp-any").tries[0].ms += 1;
    refused(&edited, Demands::default(), "it was edited");
    let mut digest = report();
    digest.digest = "0".repeat(64);
    refused(&digest, Demands::default(), "it was edited");
}

/// Somebody who can make a digest still can't make a judgement that does not follow.
#[test]
fn a_judgement_that_does_not_follow_is_refused() {
    let mut report = Report::of({
        let mut leaky = evidence();
        tries(&mut leaky).find(|attempt| attempt.seen == Seen::Reset).unwrap().seen =
            Seen::Proof { proof: "p".to_owned() };
        leaky
    });
    assert_eq!(report.judgement.overall, Overall::Fail);
    report.judgement = judge(&evidence());
    report.digest = report.true_digest();
    refused(&report, Demands::default(), "its judgement (pass) is not what follows from its evidence (fail)");
}

#[test]
fn mixed_reports_are_refused() {
    let mut other = evidence();
    other.run = "N0NCE-00000000000000aa".to_owned();
    other.stages.iter_mut().for_each(|stage| stage.run.clone_from(&other.run));
    let mut mixed = evidence();
    mixed.stages[1] = other.stages[1].clone();
    refused(&Report::of(mixed), Demands::default(), "belongs to run");

    let mut twice = evidence();
    let copied = twice.stages[0].outcomes[0].tries.clone();
    twice.stages[1].outcomes[0].tries = copied;
    refused(&Report::of(twice), Demands::default(), "is another try's too");

    let mut short = evidence();
    short.stages.retain(|stage| stage.phase == "setup");
    refused(&Report::of(short), Demands::default(), "phase agent is missing");
}

#[test]
fn what_a_reader_demands() {
    let report = report();
    let policy = report.evidence.subject.policy.clone();
    assert!(verify(&report, Demands { policy, ..Demands::default() }, NOW).passes());
    let other = Demands { policy: Some("0".repeat(64)), ..Demands::default() };
    refused(&report, other, "and not about policy 0000");
    refused(&report, Demands { signed: true, ..Demands::default() }, "it is not signed");
    let again = Demands { arrivals: report.evidence.witness.clone(), ..Demands::default() };
    refused(&report, again, "it has a record of the witness");
}

/// Evidence that comes in parts: what the witness and an open network saw is kept elsewhere.
#[test]
fn what_was_kept_elsewhere_is_added() {
    let whole = evidence();
    let bare = Report::of(Evidence { witness: None, baseline: None, ..whole.clone() });
    assert_ne!(verified(&bare).judgement.overall, Overall::Pass);
    let demands = Demands { arrivals: whole.witness, baseline: whole.baseline, ..Demands::default() };
    assert!(verify(&bare, demands, NOW).passes());
}

#[test]
fn a_wrong_clock_and_another_version_are_noted() {
    let future = verify(&report(), Demands::default(), "2025-12-02T00:00:00Z");
    assert!(future.notes.iter().any(|note| note.contains("a clock is wrong")), "{:?}", future.notes);
    let mut old = evidence();
    old.subject.canary = "0.0.1".to_owned();
    let old = verified(&Report::of(old));
    assert!(old.passes());
    assert!(old.notes.iter().any(|note| note.contains("made by canary 0.0.1")), "{:?}", old.notes);
}

#[test]
fn what_is_no_report_is_not_read() {
    let text = report().to_json();
    assert!(matches!(Report::parse(b""), Err(Unreadable::NotJson(_))));
    assert!(matches!(Report::parse(&text.as_bytes()[..text.len() / 2]), Err(Unreadable::NotJson(_))));
    assert!(matches!(Report::parse("[".repeat(100_000).as_bytes()), Err(Unreadable::NotJson(_))));
    assert!(matches!(Report::parse(b"{}"), Err(Unreadable::Schema(Value::Null))));
    assert!(matches!(Report::parse(b"{\"schema\": 2}"), Err(Unreadable::Schema(_))));
    assert!(matches!(Report::parse(b"{\"schema\": 1}"), Err(Unreadable::NotAReport(_))));
    let twice = text.replacen("{\"schema\":1", "{\"schema\":1,\"schema\":1", 1);
    assert!(matches!(Report::parse(twice.as_bytes()), Err(Unreadable::NotAReport(_))));

    let mut more: Value = serde_json::from_str(&text).unwrap();
    more["evidence"]["remark"] = json!("trust me");
    assert!(matches!(Report::parse(more.to_string().as_bytes()), Err(Unreadable::NotAReport(_))));
    // Some shapes read over what they don't know; here it is seen all the same.
    let mut hidden: Value = serde_json::from_str(&text).unwrap();
    hidden["evidence"]["stages"][0]["outcomes"][0]["tries"][0]["want"]["remark"] = json!("trust me");
    let error = Report::parse(hidden.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("/evidence/stages/0/outcomes/0/tries/0/want/remark"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let large = folder.path().join("large.json");
    std::fs::File::create(&large).unwrap().set_len(LARGEST + 1).unwrap();
    assert!(matches!(Report::open(&large), Err(Unreadable::TooLarge)));
}

/// Keys and signatures are OpenSSL's.
#[test]
fn a_signature_is_its_owners_and_the_reports() {
    let folder = tempfile::tempdir().unwrap();
    let openssl = |words: &[&str]| {
        let output = Command::new("openssl").args(words).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    for name in ["mine", "other"] {
        openssl(&["genpkey", "-algorithm", "ed25519", "-out", &format!("{name}.pem")]);
        openssl(&["pkey", "-in", &format!("{name}.pem"), "-pubout", "-out", &format!("{name}.pub")]);
    }
    let mut report = report();
    Signer::from_pem(&read("mine.pem")).unwrap().sign(&mut report);
    let report = Report::parse(report.to_json().as_bytes()).unwrap();
    let by = |name: &str| Demands {
        signatory: Some(Signatory::from_pem(&read(name)).unwrap()),
        signed: true,
        ..Demands::default()
    };
    assert!(verify(&report, by("mine.pub"), NOW).passes());
    refused(&report, by("other.pub"), "is not that of this key");
    refused(&report, Demands { signed: true, ..Demands::default() }, "nobody said whom to believe");

    let mut edited = report.clone();
    edited.evidence.subject.agent = Some("codex".to_owned());
    edited.digest = edited.true_digest();
    refused(&edited, by("mine.pub"), "is not that of this key");
    let mut without = report.clone();
    without.signature = None;
    refused(&without, by("mine.pub"), "it is not signed");

    // What was signed can be checked by others.
    let signature = report.signature.as_ref().unwrap();
    let octets: Vec<u8> =
        (0..128).step_by(2).map(|at| u8::from_str_radix(&signature.value[at..at + 2], 16).unwrap()).collect();
    std::fs::write(folder.path().join("signature"), octets).unwrap();
    std::fs::write(folder.path().join("message"), format!("closedbook canary report 1\n{}", report.digest))
        .unwrap();
    openssl(&[
        "pkeyutl",
        "-verify",
        "-rawin",
        "-pubin",
        "-inkey",
        "mine.pub",
        "-in",
        "message",
        "-sigfile",
        "signature",
    ]);

    openssl(&["genpkey", "-algorithm", "x25519", "-out", "wrong.pem"]);
    openssl(&["pkey", "-in", "wrong.pem", "-pubout", "-out", "wrong.pub"]);
    assert_eq!(Signer::from_pem(&read("wrong.pem")).unwrap_err(), BadSignature::PrivateKey);
    assert_eq!(Signatory::from_pem(&read("wrong.pub")).unwrap_err(), BadSignature::PublicKey);
    assert_eq!(Signatory::from_pem(b"no key").unwrap_err(), BadSignature::PublicKey);
}
