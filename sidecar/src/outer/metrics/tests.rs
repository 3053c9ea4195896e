use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::serve::{MetricsListener, serve};
use super::{Limit, Metrics, Now};
use crate::outer::monitor::Load;
use crate::outer::stop;
use crate::outer::testing::hello::hello;
use crate::outer::testing::{World, echo};

const POLICY: &str = "schema = 1\nphase.agent.allow = [\"api.example.com\"]";
const NAMES: &[(&str, &[&str])] = &[("api.example.com", &["203.0.113.10"])];

/// The value of a line of the text.
fn value(text: &str, line: &str) -> f64 {
    let found = text.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no line {line}: {text}")).parse().unwrap()
}

/// Each limit has its number's place, and a word and a detail of its own.
#[test]
fn limits_are_told_apart() {
    for (number, limit) in Limit::ALL.iter().enumerate() {
        assert_eq!(*limit as usize, number);
        let same = |other: &&Limit| other.word() == limit.word() || other.detail() == limit.detail();
        assert_eq!(Limit::ALL.iter().filter(same).count(), 1, "{limit:?}");
    }
}

/// The documents have each limit, each word of `degraded`, and each metric, and no other.
#[tokio::test]
async fn the_documents_have_them_all() {
    let document = |name: &str| {
        std::fs::read_to_string(format!("{}/../docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    let text = document("metrics.md");
    let table = |heading: &str| -> BTreeSet<String> {
        let (_, section) = text.split_once(heading).unwrap();
        let rows = section.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| `"));
        let words = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
        words.map(str::to_owned).collect()
    };
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(table("## Limits"), owned(&Limit::ALL.map(Limit::word)));
    let mut troubles = owned(&["log-unwritable", "log-slow", "log-not-put-aside", "resolver-silent"]);
    // That the log can't be written has a word of its own.
    troubles.extend(Limit::ALL.iter().filter(|limit| **limit != Limit::Log).map(|l| l.trouble().to_owned()));
    assert_eq!(table("## Health"), troubles);
    let world = World::new(POLICY, NAMES).await;
    world.exchange("203.0.113.10:443", b"?").await;
    let text = world.monitor.metrics().unwrap();
    let suffix = |kind: &str| match kind {
        "counter" => "_total",
        "info" => "_info",
        _ => "",
    };
    let shown: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .map(|(name, kind)| format!("{name}{}", suffix(kind)))
        .collect();
    assert_eq!(table("## Metrics"), shown);
}

/// OpenMetrics 1.0: the text ends with its mark, each name is described once, and process and build are there.
#[test]
fn format() {
    let metrics = Metrics::default();
    metrics.hit(Limit::Dials);
    let nothing = (0, 9);
    let load = Load {
        connections: (3, 9),
        hellos: nothing,
        dns_connections: nothing,
        dials: nothing,
        descriptors: (metrics.process().descriptors(), metrics.process().most_descriptors()),
        memory: metrics.process().resident(),
    };
    let text = metrics.text(Now { load, degraded: true, epoch: 1 });
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert_eq!(value(&text, "closedbook_flows"), 3.0);
    assert_eq!(value(&text, "closedbook_degraded"), 1.0);
    assert_eq!(value(&text, "closedbook_limit_hits_total{limit=\"dials\"}"), 1.0);
    assert_eq!(value(&text, "closedbook_limit_hits_total{limit=\"flows\"}"), 0.0);
    assert!(value(&text, "process_resident_memory_bytes") > 1e6);
    assert!(value(&text, "process_open_fds") > 3.0);
    assert!(value(&text, "process_max_fds") >= value(&text, "process_open_fds"));
    assert!(text.contains(concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"")));
    let types: Vec<&str> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
    let mut once = types.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), types.len());
}

/// What was allowed and what was refused is counted by kind, verdict, reason and phase, with its bytes and times.
#[tokio::test]
async fn attempts_are_counted() {
    let world = World::new(POLICY, NAMES).await;
    world.server("203.0.113.10:443", echo).await;
    let good = hello(Some("api.example.com"));
    for _ in 0..2 {
        let mut client = world.connect("203.0.113.10:443").await;
        client.write_all(&good).await.unwrap();
        client.shutdown().await.unwrap();
        let mut back = Vec::new();
        client.read_to_end(&mut back).await.unwrap();
        assert_eq!(back, good);
    }
    world.exchange("203.0.113.10:443", &hello(Some("example.org"))).await;
    let allowed = "closedbook_attempts_total{kind=\"tls\",verdict=\"allow\",reason=\"\",phase=\"agent\"}";
    // The record comes a moment after the client's end.
    let text = loop {
        let text = world.monitor.metrics().unwrap();
        if text.contains(&format!("{allowed} 2")) && value(&text, "closedbook_flows") == 0.0 {
            break text;
        }
        tokio::task::yield_now().await;
    };
    let denied = "closedbook_attempts_total{kind=\"tls\",verdict=\"deny\",reason=\"name-not-allowed\",phase=\"agent\"}";
    assert_eq!(value(&text, denied), 1.0);
    let bytes = 2.0 * good.len() as f64;
    assert_eq!(value(&text, "closedbook_moved_bytes_total{direction=\"up\"}"), bytes);
    assert_eq!(value(&text, "closedbook_moved_bytes_total{direction=\"down\"}"), bytes);
    assert_eq!(value(&text, "closedbook_decision_seconds_count"), 3.0);
    assert_eq!(value(&text, "closedbook_dial_seconds_count"), 2.0);
    assert_eq!(value(&text, "closedbook_hello_seconds_count"), 3.0);
    let monitor = world.monitor.clone();
    world.end().await;
    assert_eq!(monitor.metrics(), None, "looking at it does not keep a proxy alive");
}

async fn ask(mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin, line: &str) -> String {
    let request = format!("{line} HTTP/1.1\r\nHost: metrics\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// Asked over TCP and over a file, in order and out of order, and by many who never finish.
#[tokio::test]
async fn over_http() {
    let world = World::new(POLICY, NAMES).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics");
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let unix = UnixListener::bind(&path).unwrap();
    let (running, stopped) = stop::signal();
    let tasks = [MetricsListener::Tcp(tcp), MetricsListener::Unix(unix)]
        .map(|listener| tokio::spawn(serve(listener, world.monitor.clone(), stopped.clone())));
    let text = ask(TcpStream::connect(address).await.unwrap(), "GET /metrics").await;
    assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with("# EOF\n"), "{text}");
    assert!(text.contains("application/openmetrics-text; version=1.0.0"), "{text}");
    let text = ask(UnixStream::connect(&path).await.unwrap(), "GET /metrics").await;
    assert!(text.ends_with("# EOF\n"), "{text}");
    for (line, status) in [("GET /", "404"), ("POST /metrics", "405"), ("GET /metrics\r\nx", "400")] {
        let text = ask(TcpStream::connect(address).await.unwrap(), line).await;
        assert!(text.starts_with(&format!("HTTP/1.1 {status}")), "{line}: {text}");
    }
    drop(running);
    for task in tasks {
        task.await.unwrap();
    }
    drop(Arc::new(world));
}
