//! What the proxy that takes this one's place knows of it.

use std::sync::Arc;

use closedbook_policy::{Epoch, Policy};

use super::{THREE, asked};
use crate::journal::Journal;
use crate::outer::regime::{Former, Regime, Stop, Unchanged, Widen};
use crate::outer::{Config, Limits, Proxy, Upstreams};

/// A proxy of a namespace with this journal, that is told to begin like the first.
fn proxy(policy: &str, journal: &std::fs::File, widen: Widen) -> Proxy {
    let config = Config {
        table: None,
        policy: Policy::from_toml(policy).unwrap(),
        phase: "setup".into(),
        upstreams: Upstreams::Servers(vec!["192.0.2.53:53".parse().unwrap()]),
        log: None,
        metrics: None,
        limits: Limits::default(),
        widen,
        control: None,
        journal: Some(journal.try_clone().unwrap()),
    };
    Proxy::new(config).unwrap()
}

/// G6, G8: a proxy that takes another's place goes on in its phase and epoch, under its policy and its ratchet, whatever it
/// was told to begin with.
#[tokio::test]
async fn the_next_proxy_goes_on() {
    const POLICY: &str = "schema = 1\nphase.setup.allow = [\"a.example\", \"b.example\"]\n\
                          phase.agent.allow = [\"a.example\"]\nphase.verifier.allow = [\"a.example\"]";
    const OTHER: &str = "schema = 1\nphase.verifier.allow = []\nphase.setup.allow = [\"b.example\"]";
    let journal = Journal::blank().unwrap();
    let first = proxy(POLICY, &journal, Widen::NeverAfterAgent).regime();
    assert_eq!(first.ruling().now().name(), "setup");
    first.set_phase("agent", asked(false)).await.unwrap();
    first.set_phase("verifier", asked(false)).await.unwrap();
    first.set_policy(Policy::from_toml(OTHER).unwrap(), asked(false)).await.unwrap();
    let second = proxy(POLICY, &journal, Widen::NeverAfterAgent).regime();
    let now = second.ruling().now();
    assert_eq!((now.name(), now.epoch()), ("verifier", Epoch(4)));
    assert_eq!(second.policy().digest(), Policy::from_toml(OTHER).unwrap().digest());
    let refused = second.set_phase("setup", asked(true)).await.unwrap_err();
    assert!(matches!(refused, Unchanged::Widening { stop: Stop::AfterAgent, .. }), "{refused:?}");
    // One that was never switched begins as it is told.
    let other = proxy(POLICY, &Journal::blank().unwrap(), Widen::Flag).regime();
    assert_eq!((other.ruling().now().name(), other.ruling().now().epoch()), ("setup", Epoch(1)));
}

/// G6, G8: with no room to note a switch down, narrowing works all the same and widening does not; and since nobody would
/// know of it, no proxy takes this one's place.
#[tokio::test]
async fn a_switch_that_cannot_be_noted() {
    let file = Journal::blank().unwrap();
    let (journal, _) = Journal::open(file.try_clone().unwrap()).unwrap();
    let mut size = 20 * 1024 * 1024;
    while size > 0 {
        // Another policy each time: one that is known takes no room.
        let other = [b'x', b'y'].map(|letter| char::from(letter).to_string().repeat(size));
        if other.iter().any(|policy| journal.ruling(policy, "setup", 1).is_err()) {
            size /= 2;
        }
    }
    let policy = Policy::from_toml(THREE).unwrap();
    let setup = Arc::clone(policy.phase("setup").unwrap());
    let former = Former { epoch: Epoch(1), entered: Vec::new(), journal: Some(Arc::new(journal)) };
    let regime = Arc::new(Regime::after(former, policy, &setup, Widen::Free));
    let refused = regime.set_phase("verifier", asked(true)).await.unwrap_err();
    assert!(matches!(refused, Unchanged::Unnoted(_)), "{refused:?}");
    assert!(Journal::open(file.try_clone().unwrap()).is_ok(), "nothing has changed, so another could go on");
    regime.set_phase("agent", asked(false)).await.unwrap();
    assert_eq!(regime.ruling().now().name(), "agent");
    assert!(Journal::open(file).is_err());
}
