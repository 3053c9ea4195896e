use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use closedbook_policy::{Epoch, Policy, Widening};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use super::{Former, Order, Regime, Stop, Unchanged, Widen};
use crate::outer::ruling::{Reach, State};
use crate::outer::testing::hello::hello;
use crate::outer::testing::{World, drain, echo};

mod next;

const POLICY: &str = r#"
    schema = 1
    [phase.agent]
    allow = ["a.example", "b.example", "ws://ws.example:80", "tcp://git.example:22", "10.9.0.0/16"]
    [phase.narrow]
    allow = ["b.example"]
    [phase.http]
    allow = ["a.example:80"]
"#;

const NAMES: &[(&str, &[&str])] = &[
    ("a.example", &["203.0.113.1"]),
    ("b.example", &["203.0.113.2"]),
    ("ws.example", &["203.0.113.3"]),
    ("git.example", &["203.0.113.4"]),
];

async fn world() -> World {
    World::new(POLICY, NAMES).await
}

fn regime(policy: &str, phase: &str, widen: Widen) -> Arc<Regime> {
    let policy = Policy::from_toml(policy).unwrap();
    let phase = Arc::clone(policy.phase(phase).unwrap());
    let former = Former { epoch: Epoch(1), entered: Vec::new(), journal: None };
    Arc::new(Regime::after(former, policy, &phase, widen))
}

fn asked(widen: bool) -> Order {
    Order { widen, ..Order::default() }
}

const THREE: &str = r#"
    schema = 1
    phase.setup.allow = ["a.example", "b.example"]
    phase.agent.allow = ["a.example"]
    phase.verifier.allow = ["a.example", "c.example"]
"#;

/// Which of these switches, one after the other, are stopped: phase, and whether widening was asked for.
async fn stops(widen: Widen, switches: &[(&str, bool)]) -> Vec<Option<Stop>> {
    let regime = regime(THREE, "setup", widen);
    let mut stops = Vec::new();
    for (phase, widen) in switches {
        stops.push(match regime.set_phase(phase, asked(*widen)).await {
            Ok(switched) => {
                assert_eq!(switched.phase.name(), *phase);
                None
            }
            Err(Unchanged::Widening { stop, .. }) => Some(stop),
            Err(other) => panic!("{other}"),
        });
    }
    stops
}

/// G8: narrowing always works; widening as the operator said at the start.
#[tokio::test]
async fn ratchet() {
    let walk =
        [("agent", false), ("verifier", false), ("verifier", true), ("lockdown", false), ("agent", true)];
    assert_eq!(stops(Widen::Free, &walk).await, [None; 5]);
    assert_eq!(stops(Widen::Flag, &walk).await, [None, Some(Stop::NotAsked), None, None, None]);
    let after = Some(Stop::AfterAgent);
    assert_eq!(stops(Widen::NeverAfterAgent, &walk).await, [None, after, after, None, after]);
    // Before the agent has run, widening can be asked for.
    let before = [("lockdown", false), ("setup", false), ("setup", true)];
    assert_eq!(stops(Widen::NeverAfterAgent, &before).await, [None, Some(Stop::NotAsked), None]);
}

/// G8: a refused widening leaves everything as it was, and is remembered like one that was made.
#[tokio::test]
async fn widening_is_remembered() {
    let regime = regime(THREE, "agent", Widen::Flag);
    let refused = regime.set_phase("setup", asked(false)).await.unwrap_err();
    let Unchanged::Widening { widening: Widening::Entry(entry), stop: Stop::NotAsked } = refused else {
        panic!("{refused}")
    };
    assert_eq!(entry.as_str(), "b.example");
    assert_eq!(regime.ruling().now().name(), "agent");
    assert_eq!(regime.ruling().now().epoch().0, 1);
    regime.set_phase("setup", asked(true)).await.unwrap();
    let history = regime.history();
    let told: Vec<_> = history
        .iter()
        .map(|change| (change.from.as_str(), change.to.as_str(), change.epoch, change.refused))
        .collect();
    assert_eq!(told, [("agent", "setup", None, Some(Stop::NotAsked)), ("agent", "setup", Some(2), None)]);
    assert!(history.iter().all(|change| change.widens.as_deref() == Some("b.example")));
    for _ in 0..200 {
        let _ = regime.set_phase("agent", asked(false)).await;
    }
    assert_eq!(regime.history().len(), 100);
}

/// G8: inside the agent's phase, the phase itself can't be made wider, asked for or not; narrower it can.
#[tokio::test]
async fn the_running_agent_gets_nothing_more() {
    let wider = Policy::from_toml("schema = 1\nphase.agent.allow = ['a.example', 'z.example']").unwrap();
    let narrower = Policy::from_toml("schema = 1\nphase.agent.allow = []").unwrap();
    for (widen, expected) in [(Widen::Free, None), (Widen::Flag, Some(Stop::InsideAgent))] {
        let regime = regime(THREE, "agent", widen);
        let stop = match regime.set_policy(wider.clone(), asked(true)).await {
            Err(Unchanged::Widening { stop, .. }) => Some(stop),
            _ => None,
        };
        assert_eq!(stop, expected);
        assert_eq!(regime.policy().digest() == wider.digest(), expected.is_none());
        regime.set_policy(narrower.clone(), asked(false)).await.unwrap();
        assert_eq!(regime.ruling().now().policy(), narrower.digest());
    }
}

/// What can't be done changes nothing.
#[tokio::test]
async fn unchanged() {
    let regime = regime(THREE, "setup", Widen::Free);
    let before = regime.ruling().now();
    let unknown = regime.set_phase("nowhere", asked(true)).await.unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no phase \"nowhere\"; the policy has agent, lockdown, setup, verifier"
    );
    let other = Policy::from_toml("schema = 1\nphase.agent.allow = []").unwrap();
    let missing = regime.set_policy(other, asked(true)).await.unwrap_err();
    assert_eq!(missing.to_string(), "the policy has no phase \"setup\", which is the one in force");
    assert_eq!(regime.ruling().now().epoch(), before.epoch());
    assert_eq!(regime.ruling().now().policy(), before.policy());
    assert!(regime.history().is_empty());
}

/// A client of the task whose hello has reached an echoing server.
async fn tls(world: &World, name: &str) -> TcpStream {
    let hello = hello(Some(name));
    let mut client = world.connect("198.51.100.1:443").await;
    client.write_all(&hello).await.unwrap();
    let mut back = vec![0; hello.len()];
    client.read_exact(&mut back).await.unwrap();
    assert_eq!(back, hello);
    client
}

/// Waits until what lives is as it should be.
async fn until(world: &World, wanted: impl Fn(&[State]) -> bool) {
    loop {
        let live: Vec<State> = world.ruling.live().iter().map(|flow| flow.state).collect();
        if wanted(&live) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// G7: a connection that still sends its hello is reset if the new phase has nothing on its port; else its hello is
/// decided by the new phase.
#[tokio::test]
async fn half_a_hello() {
    let world = world().await;
    world.server("203.0.113.1:443", echo).await;
    let whole = hello(Some("a.example"));
    let mut first = world.connect("198.51.100.1:443").await;
    first.write_all(&whole[..40]).await.unwrap();
    until(&world, |live| live == [State::Hello]).await;
    assert!(world.switch("narrow").await.is_empty(), "port 443 is open in both");
    first.write_all(&whole[40..]).await.unwrap();
    let (alert, reset) = drain(&mut first).await;
    assert_eq!((alert.last(), reset), (Some(&49), false));
    let mut second = world.connect("198.51.100.1:443").await;
    second.write_all(&whole[..40]).await.unwrap();
    until(&world, |live| live == [State::Hello]).await;
    let cut = world.switch("lockdown").await;
    assert_eq!(cut.len(), 1);
    assert_eq!(drain(&mut second).await, (Vec::new(), true));
    assert!(world.dialled().is_empty());
    let (_, lines) = world.end().await;
    assert_eq!((&lines[0]["verdict"], &lines[0]["reason"]), (&"deny".into(), &"name-not-allowed".into()));
    assert_eq!((&lines[1]["verdict"], &lines[1]["reason"]), (&"cut".into(), &"phase-changed".into()));
    assert_eq!(lines[1]["id"], cut[0].id);
}

/// G7: a dial in flight is given up.
#[tokio::test]
async fn dial_in_flight() {
    let world = world().await;
    world.silence("203.0.113.1:443");
    let mut client = world.connect("198.51.100.1:443").await;
    client.write_all(&hello(Some("a.example"))).await.unwrap();
    until(&world, |live| live == [State::Dialling]).await;
    assert_eq!(world.switch("narrow").await.len(), 1);
    assert_eq!(drain(&mut client).await, (Vec::new(), true));
    let line = world.end_with_one().await;
    assert_eq!((&line["verdict"], &line["reason"]), (&"cut".into(), &"phase-changed".into()));
}

/// G7: a lookup for a name that is no longer permitted is not tried again.
#[tokio::test]
async fn lookup_in_flight() {
    let world = world().await;
    world.names.silence("a.example");
    let mut client = world.connect("198.51.100.1:443").await;
    client.write_all(&hello(Some("a.example"))).await.unwrap();
    while world.names.asked().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.switch("narrow").await.len(), 1);
    assert_eq!(drain(&mut client).await, (Vec::new(), true));
    // Longer than the two seconds after which it would be tried again.
    tokio::time::pause();
    tokio::time::sleep(Duration::from_secs(30)).await;
    tokio::time::resume();
    assert_eq!(world.names.asked().len(), 2, "{:?}", world.names.asked());
}

/// G7: a kept connection between two requests is reset on both sides; its last request is recorded as what it was.
#[tokio::test]
async fn kept_connection() {
    let world = world().await;
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    world
        .server("203.0.113.1:80", move |mut stream| {
            let tell = tell.clone();
            async move {
                let mut request = [0; 1000];
                let count = stream.read(&mut request).await.unwrap();
                assert!(count > 0);
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
                tell.send(drain(&mut stream).await).unwrap();
            }
        })
        .await;
    let mut client = world.connect("198.51.100.1:80").await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"ok") {
        answer.push(client.read_u8().await.unwrap());
    }
    until(&world, |live| live == [State::Idle]).await;
    assert_eq!(world.switch("http").await, [], "a phase that permits it leaves it alone");
    let cut = world.switch("narrow").await;
    assert_eq!((cut.len(), cut[0].host.as_str()), (1, "a.example"));
    assert_eq!(told.recv().await, Some((Vec::new(), true)));
    assert_eq!(drain(&mut client).await, (Vec::new(), true));
    let line = world.end_with_one().await;
    assert_eq!((&line["verdict"], &line["id"]), (&"allow".into(), &cut[0].id.into()));
}

/// G7: a WebSocket in the clear is cut; so is a connection of a `tcp://` entry, whose address then means nothing any
/// more to a client that remembers it.
#[tokio::test]
async fn web_sockets_and_raw_connections() {
    let world = world().await;
    world
        .server("203.0.113.3:80", |mut stream| async move {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let switch =
                b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
            stream.write_all(switch).await.unwrap();
            echo(stream).await;
        })
        .await;
    world.server("203.0.113.4:22", echo).await;
    let mut socket = world.connect("198.51.100.1:80").await;
    let request = b"GET / HTTP/1.1\r\nHost: ws.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    socket.write_all(request).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.unwrap());
    }
    let lease = format!("{}:22", world.lease("git.example"));
    let mut raw = world.connect(&lease).await;
    for stream in [&mut socket, &mut raw] {
        stream.write_all(b"x").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'x');
    }
    assert_eq!(world.switch("narrow").await.len(), 2);
    for stream in [&mut socket, &mut raw] {
        assert_eq!(drain(stream).await, (Vec::new(), true));
    }
    assert_eq!(world.exchange(&lease, b"again").await, (Vec::new(), true));
    assert_eq!(world.dialled().len(), 2);
}

/// G7: what a flow that is through has left in the kernel's queue is under way still, and stopped with it.
#[tokio::test]
async fn nothing_is_sent_after_the_end() {
    let world = world().await;
    let read_now = Arc::new(AtomicBool::new(false));
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let may_read = Arc::clone(&read_now);
    world
        .server("203.0.113.1:443", move |mut stream| {
            let (tell, may_read) = (tell.clone(), Arc::clone(&may_read));
            async move {
                SockRef::from(&stream).set_recv_buffer_size(4096).unwrap();
                // It has said all, and reads on, later.
                stream.shutdown().await.unwrap();
                while !may_read.load(Ordering::Acquire) {
                    tokio::task::yield_now().await;
                }
                let (bytes, reset) = drain(&mut stream).await;
                tell.send((bytes.len(), reset)).unwrap();
            }
        })
        .await;
    let mut client = world.connect("198.51.100.1:443").await;
    client.write_all(&hello(Some("a.example"))).await.unwrap();
    // More than the server's kernel takes, and less than the proxy's.
    let sent = 256 * 1024;
    client.write_all(&vec![7; sent]).await.unwrap();
    client.shutdown().await.unwrap();
    let whole = (sent + hello(Some("a.example")).len()) as u64;
    until(&world, |live| live == [State::Open]).await;
    while world.ruling.live().first().is_some_and(|flow| flow.bytes.0 < whole) {
        tokio::task::yield_now().await;
    }
    // Both sides have said that they are through; were the flow forgotten now, it would be by then.
    assert_eq!(drain(&mut client).await, (Vec::new(), false));
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.switch("narrow").await.len(), 1);
    read_now.store(true, Ordering::Release);
    let (received, reset) = told.recv().await.unwrap();
    assert!(reset, "the server's side is reset");
    assert!(received < sent, "{received} of {sent}");
}

/// G7: what is left to be delivered keeps a flow alive, and nothing else does.
#[tokio::test]
async fn delivered() {
    let world = world().await;
    world.server("203.0.113.1:443", echo).await;
    let mut client = tls(&world, "a.example").await;
    client.shutdown().await.unwrap();
    assert_eq!(drain(&mut client).await, (Vec::new(), false));
    until(&world, <[State]>::is_empty).await;
    assert_eq!(world.end_with_one().await["verdict"], "allow");
}

/// G7: another policy that permits the name and leads it elsewhere cuts what was led there before.
#[tokio::test]
async fn another_route() {
    let world = world().await;
    world.server("203.0.113.1:443", echo).await;
    world.server("203.0.113.2:443", echo).await;
    let mut a = tls(&world, "a.example").await;
    let mut b = tls(&world, "b.example").await;
    let routed = Policy::from_toml(
        "schema = 1\nphase.agent.allow = ['a.example', 'b.example']\nroute.'a.example' = '203.0.113.9'",
    );
    let switched = world.regime.set_policy(routed.unwrap(), asked(true)).await.unwrap();
    assert_eq!(switched.widened.unwrap().to_string(), "another route for a.example");
    assert_eq!(switched.cut.iter().map(|cut| cut.host.as_str()).collect::<Vec<_>>(), ["a.example"]);
    assert_eq!(switched.kept, 1);
    assert_eq!(drain(&mut a).await, (Vec::new(), true));
    b.write_all(b"x").await.unwrap();
    assert_eq!(b.read_u8().await.unwrap(), b'x');
}

/// G7: a private address that the new policy no longer permits is cut, whatever name led there.
#[tokio::test]
async fn private_address() {
    let world = World::new(POLICY, &[("a.example", &["10.9.0.1"])]).await;
    world.server("10.9.0.1:443", echo).await;
    let mut client = tls(&world, "a.example").await;
    let public = Policy::from_toml("schema = 1\nphase.agent.allow = ['a.example']").unwrap();
    let switched = world.regime.set_policy(public, asked(false)).await.unwrap();
    assert_eq!((switched.widened, switched.cut.len()), (None, 1));
    assert_eq!(drain(&mut client).await, (Vec::new(), true));
}

/// An order to cut everything does, and what is permitted is dialled again.
#[tokio::test]
async fn cut_all() {
    let world = world().await;
    world.server("203.0.113.2:443", echo).await;
    let mut client = tls(&world, "b.example").await;
    let order = Order { reach: Reach::All, ..Order::default() };
    let switched = world.regime.set_phase("narrow", order).await.unwrap();
    assert_eq!((switched.cut.len(), switched.kept), (1, 0));
    assert_eq!(drain(&mut client).await, (Vec::new(), true));
    drop(tls(&world, "b.example").await);
}

/// G7: a DNS question that waits for an answer from upstream is answered at once, by the new phase.
#[tokio::test]
async fn question_in_flight() {
    let policy = "schema = 1\nphase.agent.allow = ['a.example']\ndns.answers = 'real'";
    let world = World::new(policy, NAMES).await;
    world.names.silence("a.example");
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x07example\x00\x00\x01\x00\x01";
    socket.send_to(question, world.dns).await.unwrap();
    until(&world, |live| live == [State::Asking]).await;
    assert_eq!(world.switch("lockdown").await.len(), 1);
    let mut answer = [0; 512];
    let count = socket.recv(&mut answer).await.unwrap();
    assert_eq!((count >= 12, answer[3] & 15), (true, 3), "NXDOMAIN");
    let line = world.end_with_one().await;
    assert_eq!((&line["verdict"], &line["reason"]), (&"cut".into(), &"phase-changed".into()));
}

/// G7: DNS over TCP goes on, since it leads to nobody but closedbook, and answers by the phase in force.
#[tokio::test]
async fn dns_over_tcp() {
    let world = world().await;
    let question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x07example\x00\x00\x01\x00\x01";
    let mut client = TcpStream::connect(world.dns_tcp).await.unwrap();
    // The second question is half asked when the phase changes.
    for (phase, code) in [("agent", 0), ("narrow", 3)] {
        client.write_u16(27).await.unwrap();
        client.write_all(&question[..9]).await.unwrap();
        if phase == "narrow" {
            world.switch(phase).await;
        }
        client.write_all(&question[9..]).await.unwrap();
        let length = client.read_u16().await.unwrap();
        let mut answer = vec![0; length.into()];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer[3] & 15, code, "{phase}");
    }
}

/// G7: fifty switches under load. Of a flow that a phase forbids, not a byte that was written after the switch returned
/// reaches the server; a flow that it permits loses none.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_switches_under_load() {
    const FLOWS: usize = 6;
    const ROUNDS: usize = 50;
    let world = world().await;
    // What clients write: the number of switches that have returned.
    let round = Arc::new(AtomicU8::new(0));
    let late = Arc::new(AtomicUsize::new(0));
    let resets = Arc::new(AtomicUsize::new(0));
    {
        let (round, late, resets) = (Arc::clone(&round), Arc::clone(&late), Arc::clone(&resets));
        world
            .server("203.0.113.1:443", move |mut stream| {
                let born = round.load(Ordering::SeqCst);
                let (late, resets) = (Arc::clone(&late), Arc::clone(&resets));
                async move {
                    let mut hello = vec![0; hello(Some("a.example")).len()];
                    stream.read_exact(&mut hello).await.unwrap();
                    stream.write_all(&hello).await.unwrap();
                    let mut buffer = [0; 4096];
                    loop {
                        match stream.read(&mut buffer).await {
                            Ok(0) => return,
                            Ok(count) => {
                                let after = buffer[..count].iter().filter(|byte| **byte > born).count();
                                late.fetch_add(after, Ordering::SeqCst);
                            }
                            Err(_) => {
                                resets.fetch_add(1, Ordering::SeqCst);
                                return;
                            }
                        }
                    }
                }
            })
            .await;
    }
    world.server("203.0.113.2:443", echo).await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut permitted = Vec::new();
    for _ in 0..FLOWS {
        let client = tls(&world, "b.example").await;
        let (stop, round) = (Arc::clone(&stop), Arc::clone(&round));
        permitted.push(tokio::spawn(async move {
            let (mut read, mut write) = client.into_split();
            let writer = async {
                let mut sent = Vec::new();
                while !stop.load(Ordering::SeqCst) {
                    let piece = [round.load(Ordering::SeqCst); 100];
                    write.write_all(&piece).await.unwrap();
                    sent.extend(piece);
                    tokio::task::yield_now().await;
                }
                write.shutdown().await.unwrap();
                sent
            };
            let reader = async {
                let mut received = Vec::new();
                read.read_to_end(&mut received).await.unwrap();
                received
            };
            tokio::join!(writer, reader)
        }));
    }
    for number in 0..ROUNDS {
        let mut writers = Vec::new();
        for _ in 0..FLOWS {
            let mut client = tls(&world, "a.example").await;
            let round = Arc::clone(&round);
            writers.push(tokio::spawn(async move {
                // Until it is cut. A cut client hears of it by an error, at the latest with its next write.
                while client.write_all(&[round.load(Ordering::SeqCst); 100]).await.is_ok() {
                    tokio::task::yield_now().await;
                }
            }));
        }
        let cut = world.switch("narrow").await;
        round.fetch_add(1, Ordering::SeqCst);
        assert_eq!(cut.len(), FLOWS, "round {number}");
        for writer in writers {
            writer.await.unwrap();
        }
        world.switch("agent").await;
    }
    stop.store(true, Ordering::SeqCst);
    for flow in permitted {
        let (sent, received) = flow.await.unwrap();
        assert!(sent == received, "{} sent, {} received", sent.len(), received.len());
    }
    while resets.load(Ordering::SeqCst) < FLOWS * ROUNDS {
        tokio::task::yield_now().await;
    }
    assert_eq!(late.load(Ordering::SeqCst), 0, "bytes that came after a switch");
}
