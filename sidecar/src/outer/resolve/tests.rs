use closedbook_policy::{Name, Reason};

use hickory_resolver::Hosts;

use super::{Resolver, ResolverError, Upstreams, name_server};
use crate::outer::testing::names::Names;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

async fn world(names: &[(&str, &[&str])]) -> (Names, Resolver) {
    let names = Names::serve(names).await;
    let resolver = Resolver::new(&Upstreams::Servers(vec![names.address])).unwrap();
    (names, resolver)
}

async fn addresses(resolver: &Resolver, text: &str) -> Vec<String> {
    resolver.addresses(&name(text)).await.unwrap().iter().map(ToString::to_string).collect()
}

/// G3: both families are asked for, by their fully qualified name and by no other, and alternate with IPv6 first.
#[tokio::test]
async fn both_families() {
    let both = ["203.0.113.1", "203.0.113.2", "203.0.113.3", "2001:db8::1"];
    let (names, resolver) = world(&[("a.example", &both)]).await;
    assert_eq!(
        addresses(&resolver, "a.example").await,
        ["2001:db8::1", "203.0.113.1", "203.0.113.2", "203.0.113.3"]
    );
    let mut asked = names.asked();
    asked.sort();
    assert_eq!(asked, ["a.example. A", "a.example. AAAA"]);
}

/// A name that does not exist, or has no address, is a refusal with its own reason.
#[tokio::test]
async fn nothing_there() {
    let (names, resolver) = world(&[("empty.example", &[])]).await;
    for text in ["none.example", "empty.example"] {
        let refusal = resolver.addresses(&name(text)).await.unwrap_err();
        assert_eq!(refusal.reason, Reason::ResolveFailed);
        assert!(refusal.detail.starts_with(&format!("{text} could not be resolved: ")), "{}", refusal.detail);
    }
    assert!(
        names
            .asked()
            .iter()
            .all(|asked| asked.starts_with("none.example.") || asked.starts_with("empty.example."))
    );
}

/// The answer is the one of now, not of the start: addresses change under long-lived services.
#[tokio::test]
async fn follows_changes() {
    let (names, resolver) = world(&[("a.example", &["203.0.113.1"])]).await;
    assert_eq!(addresses(&resolver, "a.example").await, ["203.0.113.1"]);
    names.set("a.example", &["203.0.113.2"]);
    assert_eq!(addresses(&resolver, "a.example").await, ["203.0.113.2"], "its TTL is zero");
}

/// G12: a thousand connections to one name are one lookup.
#[tokio::test]
async fn one_lookup_for_all() {
    let (names, resolver) = world(&[("a.example", &["203.0.113.1"])]).await;
    let asks: Vec<_> = (0..1000)
        .map(|_| {
            let resolver = resolver.clone();
            tokio::spawn(async move { addresses(&resolver, "a.example").await })
        })
        .collect();
    for ask in asks {
        assert_eq!(ask.await.unwrap(), ["203.0.113.1"]);
    }
    assert!(names.asked().len() <= 4, "{:?}", names.asked());
}

/// Without anybody to ask there is no resolver, and nothing takes its place.
#[tokio::test]
async fn nobody_to_ask() {
    assert!(matches!(Resolver::new(&Upstreams::Servers(Vec::new())), Err(ResolverError::NoServer)));
}

/// A name of the hosts file is what that says, in all families; only other names are asked for.
#[tokio::test]
async fn hosts_file() {
    let names =
        Names::serve(&[("a.example", &["203.0.113.1", "2001:db8::1"]), ("b.example", &["203.0.113.2"])])
            .await;
    let mut hosts = Hosts::default();
    hosts.read_hosts_conf(&b"10.0.0.7 a.example a\n"[..]).unwrap();
    let resolver = Resolver::asking(vec![name_server(names.address)], Some(hosts)).unwrap();
    assert_eq!(addresses(&resolver, "a.example").await, ["10.0.0.7"]);
    assert!(names.asked().is_empty());
    assert_eq!(addresses(&resolver, "b.example").await, ["203.0.113.2"]);
}
