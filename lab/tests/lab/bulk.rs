use std::time::Duration;

use closedbook_lab::load::{self, Exchange, Http, Load, Report};

use crate::client::PATIENCE;
use crate::harness::Guest;

fn load(guest: &Guest, url: &str) -> Load {
    Load {
        url: url.parse().unwrap(),
        connections: 1,
        parallel: 1,
        requests: 1,
        exchange: Exchange::Get,
        http: Http::One,
        hold: Duration::ZERO,
        timeout: PATIENCE,
        roots: guest.ca(),
    }
}

/// One connection, some requests.
pub(crate) async fn run(guest: &Guest, url: &str, exchange: Exchange, http: Http, requests: usize) -> Report {
    load::run(Load { exchange, http, requests, ..load(guest, url) }).await.unwrap()
}

pub(crate) async fn downloads_are_the_pattern(guest: Guest) {
    for (url, http) in [
        ("http://example.com/bytes/30000000", Http::One),
        ("https://example.com/bytes/30000000", Http::One),
        ("https://example.com/bytes/30000000", Http::Two),
    ] {
        let report = run(&guest, url, Exchange::Pattern, http, 2).await;
        assert!(report.is_clean(), "{report:?}");
        assert_eq!((report.checked, report.equal, report.bytes), (2, 2, 60_000_000));
    }
    let other = run(&guest, "http://example.com/status/200", Exchange::Pattern, Http::One, 1).await;
    assert_eq!(other.requests.errors.get("content"), Some(&1), "{other:?}");
}

pub(crate) async fn uploads_are_hashed(guest: Guest) {
    for http in [Http::One, Http::Two] {
        let report = run(&guest, "https://example.com/upload", Exchange::Upload(30_000_000), http, 2).await;
        assert!(report.is_clean() && report.equal == 2, "{report:?}");
    }
    let none = run(&guest, "http://example.com/upload", Exchange::Upload(0), Http::One, 1).await;
    assert!(none.is_clean() && none.equal == 1, "{none:?}");
}

pub(crate) async fn a_thousand_connections_are_held_open(guest: Guest) {
    let many = Load {
        connections: 1000,
        parallel: 1000,
        hold: Duration::from_millis(1),
        timeout: Duration::from_secs(60),
        ..load(&guest, "http://example.com/")
    };
    let report = load::run(many).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!((report.connections.ok, report.requests.ok), (1000, 2000));
    let impossible =
        Load { connections: 2, hold: Duration::from_secs(1), ..load(&guest, "http://example.com/") };
    assert!(load::run(impossible).await.is_err());
}

pub(crate) async fn failures_are_told_apart(guest: Guest) {
    for (url, http, kind) in [
        ("http://dead.test/", Http::One, "connect-unreachable"),
        ("http://example.com:4/", Http::One, "connect-refused"),
        ("https://203.0.113.5/", Http::One, "tls-certificate"),
        ("http://example.com/reset", Http::One, "body-reset"),
        ("http://example.com/status/403", Http::Two, "status-403"),
        ("http://example.com:22/", Http::One, "http-error"),
    ] {
        let report = run(&guest, url, Exchange::Get, http, 1).await;
        let errors: Vec<_> = report.connections.errors.keys().chain(report.requests.errors.keys()).collect();
        assert_eq!(errors, [kind], "{url}");
    }
    let hanging = Load { timeout: Duration::from_millis(100), ..load(&guest, "http://silent.test/") };
    assert_eq!(load::run(hanging).await.unwrap().connections.errors.get("connect-timeout"), Some(&1));
    assert!(load::run(load(&guest, "http://nxdomain.test/")).await.is_err());
    assert!(load::run(load(&guest, "ftp://example.com/")).await.is_err());
    assert!(load::run(load(&guest, "/no-host")).await.is_err());
}
