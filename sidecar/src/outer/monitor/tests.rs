//! What the proxy does under pressure, and that it says so.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use crate::outer::testing::hello::hello;
use crate::outer::testing::{World, drain, echo};
use crate::outer::{Limits, Rate};

const POLICY: &str = "schema = 1\nphase.agent.allow = [\"api.example.com\", \"dead.example.com\"]";
const NAMES: &[(&str, &[&str])] =
    &[("api.example.com", &["203.0.113.10"]), ("dead.example.com", &["203.0.113.11"])];

async fn world(limits: Limits) -> World {
    let world = World::with(POLICY, NAMES, limits, tempfile::tempfile().unwrap()).await;
    world.server("203.0.113.10:443", echo).await;
    world
}

async fn served(world: &World) -> TcpStream {
    let hello = hello(Some("api.example.com"));
    let mut client = world.connect("203.0.113.10:443").await;
    client.write_all(&hello).await.unwrap();
    let mut back = vec![0; hello.len()];
    client.read_exact(&mut back).await.unwrap();
    assert_eq!(back, hello);
    client
}

/// The words of what is wrong.
fn troubles(world: &World) -> Vec<&'static str> {
    world.monitor.troubles().unwrap().into_iter().map(|trouble| trouble.word).collect()
}

/// G16: slow hellos in any number take their places from each other, and none from who knows what it wants: each of
/// these is served while the room is full of them.
#[tokio::test]
async fn slow_hellos_keep_nobody_out() {
    let world = world(Limits { hellos: 20, ..Limits::default() }).await;
    assert_eq!(troubles(&world), Vec::<&str>::new());
    let mut slow = Vec::new();
    for number in 0..20 {
        let mut client = world.connect("203.0.113.10:443").await;
        client.write_all(&[22, 3, 1][..number % 4]).await.unwrap();
        slow.push(client);
    }
    let mut flows = Vec::new();
    for _ in 0..5 {
        flows.push(served(&world).await);
        slow.push(world.connect("203.0.113.10:443").await);
    }
    for flow in &mut flows {
        flow.write_u8(1).await.unwrap();
        assert_eq!(flow.read_u8().await.unwrap(), 1);
    }
    assert_eq!(drain(&mut slow[0]).await, (Vec::new(), true));
    assert_eq!(troubles(&world), ["limit-hellos"]);
    let text = world.monitor.metrics().unwrap();
    assert!(text.contains("closedbook_flows 5\n"), "{text}");
    assert!(text.contains("closedbook_pending_hellos 20\n"), "{text}");
    drop((slow, flows));
    let (_, lines) = world.end().await;
    assert_eq!(lines.len(), 30);
    assert!(lines.iter().any(|line| line["reason"] == "limit"));
}

/// G16: what unfinished hellos hold together is bounded.
#[tokio::test]
async fn unfinished_hellos_hold_little() {
    let world = world(Limits { hello_bytes: 30_000, ..Limits::default() }).await;
    let mut first = world.connect("203.0.113.10:443").await;
    let mut second = world.connect("203.0.113.10:443").await;
    // The beginning of a hello of 16 KiB.
    let mut long = vec![22, 3, 1, 64, 0, 1, 0, 63, 252, 3, 3];
    long.resize(16_000, 7);
    first.write_all(&long).await.unwrap();
    second.write_all(&long).await.unwrap();
    // Whoever comes second.
    tokio::select! {
        _ = drain(&mut first) => {}
        _ = drain(&mut second) => {}
    }
    let _flow = served(&world).await;
    drop((first, second));
    let (_, lines) = world.end().await;
    let limit = lines.iter().find(|line| line["reason"] == "limit").unwrap();
    assert!(limit["detail"].as_str().unwrap().contains("memory"), "{limit}");
}

/// G16: a destination that never answers takes no dialling place from another.
#[tokio::test]
async fn silent_servers() {
    let world = world(Limits { dials: 4, ..Limits::default() }).await;
    world.silence("203.0.113.11:443");
    let mut waiting = Vec::new();
    for _ in 0..10 {
        let mut client = world.connect("203.0.113.11:443").await;
        client.write_all(&hello(Some("dead.example.com"))).await.unwrap();
        waiting.push(client);
    }
    while !world.monitor.metrics().unwrap().contains("closedbook_pending_dials 3\n") {
        tokio::task::yield_now().await;
    }
    let _flow = served(&world).await;
}

/// Ten seconds are all that a dial gets, its wait for a turn included.
#[tokio::test(start_paused = true)]
async fn dials_have_an_end() {
    let world = world(Limits { dials: 1, ..Limits::default() }).await;
    world.silence("203.0.113.11:443");
    let hello = hello(Some("dead.example.com"));
    let one = world.exchange("203.0.113.11:443", &hello);
    let two = world.exchange("203.0.113.11:443", &hello);
    let (one, two) = tokio::join!(one, two);
    assert_eq!((one, two), ((Vec::new(), true), (Vec::new(), true)));
    let (_, lines) = world.end().await;
    let mut reasons: Vec<_> = lines.iter().map(|line| line["reason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["dial-failed", "limit"]);
}

fn question(id: u8) -> Vec<u8> {
    let mut message = vec![0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    message.extend(b"\x03api\x07example\x03com\0\0\x01\0\x01");
    // EDNS, for the extended error.
    message.extend([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]);
    message
}

/// G13, G16: beyond its pace DNS refuses with a reason, beyond that it is silent, and the record of that has the number.
#[tokio::test]
async fn questions_beyond_the_pace() {
    let slow = |burst| Rate { per_second: 0, burst };
    let limits = Limits { questions: slow(3), refusals: slow(2), ..Limits::default() };
    let world = world(limits).await;
    let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for id in 0..10 {
        client.send_to(&question(id), world.dns).await.unwrap();
    }
    for id in 0..5 {
        let mut answer = [0; 512];
        let length = client.recv(&mut answer).await.unwrap();
        let answer = &answer[..length];
        let (code, prohibited) =
            (answer[3] & 15, answer.windows(6).any(|part| part[..2] == [0, 15] && part[4..] == [0, 18]));
        assert_eq!((answer[1], code, prohibited), (id, if id < 3 { 0 } else { 5 }, id >= 3), "{answer:?}");
    }
    // Over TCP, a question that is dropped ends the connection.
    let mut stream = TcpStream::connect(world.dns_tcp).await.unwrap();
    let message = question(11);
    stream.write_all(&[&[0, message.len() as u8][..], &message].concat()).await.unwrap();
    assert_eq!(drain(&mut stream).await, (Vec::new(), true));
    assert_eq!(troubles(&world), ["limit-dns-rate"]);
    let (_, lines) = world.end().await;
    let limits: Vec<_> = lines.iter().filter(|line| line["reason"] == "limit").collect();
    let dropped = |line: &serde_json::Value| -> u64 {
        let detail = line["detail"].as_str().unwrap().split_once(" questions were dropped");
        detail.map_or(0, |(number, _)| number.parse().unwrap())
    };
    assert_eq!(limits.iter().map(|line| dropped(line)).sum::<u64>(), 6, "{lines:#?}");
    assert_eq!(limits.iter().filter(|line| dropped(line) == 0).count(), 2, "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line["verdict"] == "allow").count(), 3, "{lines:#?}");
}

/// The health says that no resolver answers, until one does. A name that does not exist is an answer.
#[tokio::test(start_paused = true)]
async fn resolver_down() {
    let world = world(Limits::default()).await;
    let hello = hello(Some("api.example.com"));
    world.names.quiet(true);
    assert_eq!(world.exchange("203.0.113.10:443", &hello).await, (Vec::new(), true));
    // The next to speak, so that the last lookup has ended.
    assert_eq!(troubles(&world), ["resolver-silent"]);
    world.names.quiet(false);
    let _flow = served(&world).await;
    assert_eq!(troubles(&world), Vec::<&str>::new());
    world.names.set("dead.example.com", &[]);
    drop(world.end().await);
}
