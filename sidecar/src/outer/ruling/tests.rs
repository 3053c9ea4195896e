use std::sync::Arc;

use closedbook_policy::{Attempt, Epoch, Evidence, Hello, Name, Permit, Policy, Reason};

use super::{Leash, Reach, Ruling};

fn policy() -> Policy {
    Policy::from_toml(
        r#"
        schema = 1
        phase.agent.allow = ["a.example", "b.example"]
        phase.narrow.allow = ["b.example"]
        "#,
    )
    .unwrap()
}

fn permit(ruling: &Ruling, name: &str) -> Permit {
    let hello = Hello { server_name: Some(Name::parse(name).unwrap()), ech: false };
    let original = "203.0.113.1:443".parse().unwrap();
    ruling.now().decide(Attempt { evidence: Evidence::Tls(hello), original }).unwrap()
}

/// G7: a switch pulls the leash of every flow that the new phase refuses, of no other, and ends when they have.
#[tokio::test]
async fn switch() {
    let policy = policy();
    let ruling = Arc::new(Ruling::new(policy.phase("agent").unwrap()));
    assert_eq!(ruling.now().epoch(), Epoch(1));
    let (cut, kept) = (Leash::new(), Leash::new());
    let (_, cut_flow) = ruling.admit(1, permit(&ruling, "a.example"), &cut).unwrap();
    let (_, _kept_flow) = ruling.admit(2, permit(&ruling, "b.example"), &kept).unwrap();
    let switching = tokio::spawn({
        let (ruling, narrow) = (Arc::clone(&ruling), Arc::clone(policy.phase("narrow").unwrap()));
        async move { ruling.switch(&narrow, Reach::Refused).await }
    });
    assert_eq!(cut.cut().await.reason, Reason::PhaseChanged);
    assert_eq!(ruling.now().epoch(), Epoch(2));
    assert!(!switching.is_finished(), "the flow still lives");
    drop(cut_flow);
    tokio::task::yield_now().await;
    assert!(!switching.is_finished(), "its connection still lives");
    drop(cut);
    let cut = switching.await.unwrap();
    assert_eq!(cut.len(), 1);
    assert_eq!((cut[0].id, cut[0].host.as_str(), cut[0].port), (1, "a.example", Some(443)));
    assert!(kept.pulled().is_none());
}

/// G7: a flow that was decided before a switch and enters after it is decided anew.
#[tokio::test]
async fn late_entry() {
    let policy = policy();
    let ruling = Arc::new(Ruling::new(policy.phase("agent").unwrap()));
    let (refused, still_good) = (permit(&ruling, "a.example"), permit(&ruling, "b.example"));
    ruling.switch(policy.phase("narrow").unwrap(), Reach::Refused).await;
    let refusal = ruling.admit(1, refused, &Leash::new()).unwrap_err();
    assert_eq!(refusal.reason, Reason::NameNotAllowed);
    let (permit, _flow) = ruling.admit(2, still_good, &Leash::new()).unwrap();
    assert_eq!(permit.epoch(), Epoch(2));
}

/// G6: `lockdown` is a phase like any other, and permits nothing.
#[tokio::test]
async fn lockdown() {
    let policy = policy();
    let ruling = Arc::new(Ruling::new(policy.phase("agent").unwrap()));
    let leash = Leash::new();
    let (_, flow) = ruling.admit(7, permit(&ruling, "b.example"), &leash).unwrap();
    drop((flow, leash));
    assert!(
        ruling.switch(policy.phase("lockdown").unwrap(), Reach::Refused).await.is_empty(),
        "a flow that ended is forgotten"
    );
}
