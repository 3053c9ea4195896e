use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::outer::testing::hello::hello;
use crate::outer::testing::{World, drain, echo};
use crate::outer::{Limits, Reach};

const POLICY: &str = r#"
    schema = 1
    [phase.agent]
    allow = ["api.example.com", "tcp://git.example.com:22", "10.9.0.0/16"]
    [phase.other]
    allow = ["other.example.com"]
"#;

const NAMES: &[(&str, &[&str])] = &[
    ("api.example.com", &["203.0.113.10"]),
    ("git.example.com", &["203.0.113.22"]),
    ("other.example.com", &["203.0.113.30"]),
];

async fn world() -> World {
    World::new(POLICY, NAMES).await
}

/// G3: the bytes reach the server of the permitted name, all of them and nothing else, wherever the client aimed.
#[tokio::test]
async fn the_name_decides() {
    let world = world().await;
    world.server("203.0.113.10:443", echo).await;
    let hello = hello(Some("api.example.com"));
    let mut client = world.connect("198.51.100.66:443").await;
    client.write_all(&hello).await.unwrap();
    let mut back = vec![0; hello.len()];
    client.read_exact(&mut back).await.unwrap();
    assert_eq!(back, hello);
    client.write_all(b"more").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(drain(&mut client).await, (b"more".to_vec(), false));
    assert_eq!(world.dialled(), ["203.0.113.10:443"]);
    let line = world.end_with_one().await;
    assert_eq!(line["verdict"], "allow");
    assert_eq!(line["kind"], "tls");
    assert_eq!(line["name"], "api.example.com");
    assert_eq!(line["original"], "198.51.100.66:443");
    assert_eq!(line["dialled"], "203.0.113.10:443");
    assert_eq!(line["bytes_up"], hello.len() + 4);
    assert_eq!(line["bytes_down"], hello.len() + 4);
    assert_eq!(line["rule"], "api.example.com");
    assert_eq!(line["reason"], serde_json::Value::Null);
}

/// G1, G11: another name is refused by a TLS alert, in the version that the client spoke, and nothing is dialled.
#[tokio::test]
async fn another_name_is_denied_by_an_alert() {
    let world = world().await;
    let (answer, reset) = world.exchange("203.0.113.10:443", &hello(Some("evil.example.com"))).await;
    assert_eq!(answer, [21, 3, 1, 0, 2, 2, 49]);
    assert!(!reset);
    assert!(world.dialled().is_empty());
    assert!(world.names.asked().is_empty(), "nobody is asked for a name that is not permitted");
    let line = world.end_with_one().await;
    assert_eq!((line["verdict"].as_str(), line["reason"].as_str()), (Some("deny"), Some("name-not-allowed")));
    assert_eq!(line["name"], "evil.example.com");
}

fn verdict(line: &serde_json::Value) -> (&str, &str) {
    (line["verdict"].as_str().unwrap(), line["reason"].as_str().unwrap_or("-"))
}

/// G4, G11: what is no evidence is refused, each by its own reason, and nothing is resolved or dialled.
#[tokio::test]
async fn no_evidence_no_passage() {
    for (aim, bytes, answer, reason) in [
        ("203.0.113.10:443", hello(None), Some(109), "no-server-name"),
        ("203.0.113.10:443", hello(Some("203.0.113.10")), Some(50), "malformed-hello"),
        ("203.0.113.10:443", hello(Some("api.example.com\0.evil")), Some(50), "malformed-hello"),
        ("203.0.113.10:443", hello(Some("evilapi.example.com")), Some(49), "name-not-allowed"),
        ("203.0.113.10:443", hello(Some("api.example.com.evil.test")), Some(49), "name-not-allowed"),
        ("203.0.113.10:8443", hello(Some("api.example.com")), Some(49), "port-not-allowed"),
        ("203.0.113.22:22", hello(Some("git.example.com")), Some(49), "name-not-allowed"),
        ("203.0.113.10:443", b"SSH-2.0-OpenSSH\r\n".to_vec(), None, "not-tls-or-http"),
        ("203.0.113.10:443", vec![0x80, 0x2e, 1, 0, 2, 0, 0], None, "not-tls-or-http"),
        ("203.0.113.10:443", vec![0, 1, 2, 3], None, "not-tls-or-http"),
        ("127.0.0.1:443", hello(Some("api.example.com")), None, "loop"),
        ("[::1]:15053", hello(Some("api.example.com")), None, "loop"),
    ] {
        let world = world().await;
        let (said, reset) = world.exchange(aim, &bytes).await;
        match answer {
            Some(description) => {
                assert_eq!((said, reset), (vec![21, 3, 1, 0, 2, 2, description], false), "{reason}")
            }
            None => assert_eq!((said, reset), (Vec::new(), true), "{reason}"),
        }
        assert!(world.dialled().is_empty());
        assert!(world.names.asked().is_empty());
        let line = world.end_with_one().await;
        assert_eq!(verdict(&line), ("deny", reason));
        assert_eq!(line["kind"] == "tls", answer.is_some(), "{line}");
    }
}

/// G4: a hello that stops, or that drips, is refused at the deadline; so is silence.
#[tokio::test(start_paused = true)]
async fn late() {
    let whole = hello(Some("api.example.com"));
    for bytes in [&b""[..], &whole[..1], &whole[..whole.len() - 1], b"GET / HTTP/1.1\r\nHost: api.exa"] {
        let world = world().await;
        world.server("203.0.113.10:443", echo).await;
        let mut client = world.connect("203.0.113.10:443").await;
        client.write_all(bytes).await.unwrap();
        let (answer, _) = drain(&mut client).await;
        assert!(answer.is_empty() || answer[0] == 21 || answer.starts_with(b"HTTP/1.1 408 "), "{answer:?}");
        assert!(world.dialled().is_empty());
        assert_eq!(verdict(&world.end_with_one().await), ("deny", "hello-timeout"));
    }
}

/// G13: a connection that was opened ahead of need, and closed unused, is recorded; the closing line leaves it out.
#[tokio::test]
async fn never_used() {
    let world = world().await;
    drop(world.connect("203.0.113.10:443").await);
    let mut half = world.connect("203.0.113.10:443").await;
    half.write_all(b"\x16\x03").await.unwrap();
    half.shutdown().await.unwrap();
    drain(&mut half).await;
    let (summary, lines) = world.end().await;
    assert_eq!(lines.iter().map(verdict).collect::<Vec<_>>(), [("deny", "hello-timeout"); 2]);
    assert_eq!(
        summary.refused.iter().map(|row| row.times).sum::<u64>(),
        1,
        "only the one that had begun to speak"
    );
}

/// G4: a hello split at any place is the same hello.
#[tokio::test]
async fn split() {
    let world = world().await;
    world.server("203.0.113.10:443", echo).await;
    let hello = hello(Some("api.example.com"));
    for place in [1, 5, 6, 9, 50, hello.len() - 1] {
        let mut client = world.connect("203.0.113.10:443").await;
        client.set_nodelay(true).unwrap();
        client.write_all(&hello[..place]).await.unwrap();
        tokio::task::yield_now().await;
        client.write_all(&hello[place..]).await.unwrap();
        let mut back = vec![0; hello.len()];
        client.read_exact(&mut back).await.unwrap();
        assert_eq!(back, hello);
    }
}

/// G11: on a port that nothing permits, a client that waits for the server to speak is told at once; one that speaks
/// is in the log by name.
#[tokio::test]
async fn closed_port() {
    let world = world().await;
    let mut silent = world.connect("203.0.113.10:3306").await;
    assert_eq!(drain(&mut silent).await, (Vec::new(), true));
    let (said, _) = world.exchange("203.0.113.10:8443", &hello(Some("evil.example.com"))).await;
    assert_eq!(said, [21, 3, 1, 0, 2, 2, 49]);
    let (_, lines) = world.end().await;
    assert_eq!(verdict(&lines[0]), ("deny", "port-not-allowed"));
    assert_eq!(verdict(&lines[1]), ("deny", "port-not-allowed"));
    assert_eq!(lines[1]["name"], "evil.example.com");
}

/// A `tcp://` entry is reached by the address that was handed out for its name, and the server may speak first.
#[tokio::test]
async fn server_first() {
    let world = world().await;
    world
        .server("203.0.113.22:22", async |mut stream| {
            stream.write_all(b"SSH-2.0-server\r\n").await.unwrap();
            drain(&mut stream).await;
        })
        .await;
    let address = world.lease("git.example.com");
    let mut client = world.connect(&format!("{address}:22")).await;
    let mut banner = [0; 16];
    client.read_exact(&mut banner).await.unwrap();
    assert_eq!(&banner, b"SSH-2.0-server\r\n");
    // The same port by another address, or the same address by another port, is another thing.
    let api = world.lease("api.example.com");
    for aim in [format!("{api}:22"), format!("{address}:2222"), "203.0.113.22:22".into()] {
        let (said, reset) = world.exchange(&aim, b"SSH-2.0-client\r\n").await;
        assert_eq!((said, reset), (Vec::new(), true), "{aim}");
    }
    assert_eq!(world.dialled(), ["203.0.113.22:22"]);
}

/// An entry by address carries TLS without a name, to exactly that address.
#[tokio::test]
async fn address_entry() {
    let world = world().await;
    world.server("10.9.1.2:443", echo).await;
    let hello = hello(None);
    let mut client = world.connect("10.9.1.2:443").await;
    client.write_all(&hello).await.unwrap();
    let mut back = vec![0; hello.len()];
    client.read_exact(&mut back).await.unwrap();
    drop(client);
    assert_eq!(world.dialled(), ["10.9.1.2:443"]);
}

/// G11: a permitted server that can't be reached is a reset, as it would be without a proxy, and the record says why.
#[tokio::test]
async fn unreachable() {
    let world = world().await;
    let (said, reset) = world.exchange("203.0.113.10:443", &hello(Some("api.example.com"))).await;
    assert_eq!((said, reset), (Vec::new(), true));
    let line = world.end_with_one().await;
    assert_eq!(verdict(&line), ("deny", "dial-failed"));
    assert_eq!(line["rule"], "api.example.com");
}

/// G9: a permitted name that stands for a private address is refused by an alert.
#[tokio::test]
async fn rebound() {
    let world = World::new(POLICY, &[("api.example.com", &["169.254.169.254"])]).await;
    let (said, _) = world.exchange("203.0.113.10:443", &hello(Some("api.example.com"))).await;
    assert_eq!(said, [21, 3, 1, 0, 2, 2, 49]);
    assert_eq!(verdict(&world.end_with_one().await), ("deny", "private-address"));
}

/// G13: when the proxy stops, what lives is cut on both sides, and recorded.
#[tokio::test]
async fn stop_cuts() {
    let world = world().await;
    let (ended, mut has_ended) = tokio::sync::mpsc::channel(1);
    world
        .server("203.0.113.10:443", move |mut stream| {
            let ended = ended.clone();
            async move {
                stream.write_all(b"x").await.unwrap();
                ended.send(drain(&mut stream).await.1).await.unwrap();
            }
        })
        .await;
    let mut client = world.connect("203.0.113.10:443").await;
    client.write_all(&hello(Some("api.example.com"))).await.unwrap();
    client.read_u8().await.unwrap();
    let mut undecided = world.connect("203.0.113.10:443").await;
    undecided.write_all(&[22]).await.unwrap();
    // One that is accepted after it, so both are served by now.
    world.exchange("203.0.113.10:443", b"?").await;
    let (summary, lines) = world.end().await;
    assert_eq!(has_ended.recv().await, Some(true));
    assert_eq!(drain(&mut client).await, (Vec::new(), true));
    assert_eq!(drain(&mut undecided).await, (Vec::new(), true));
    assert_eq!(summary.cut, 2);
    let cut = lines.iter().filter(|line| line["verdict"] == "cut");
    assert_eq!(cut.filter(|line| line["detail"] == "closedbook stopped").count(), 2);
}

/// G7: a switch of phase cuts a TLS flow on both sides before it returns, and lets others live.
#[tokio::test]
async fn switch_of_phase() {
    let world = world().await;
    world.server("203.0.113.10:443", echo).await;
    let hello = hello(Some("api.example.com"));
    let mut client = world.connect("203.0.113.10:443").await;
    client.write_all(&hello).await.unwrap();
    let mut back = vec![0; hello.len()];
    client.read_exact(&mut back).await.unwrap();
    let agent = std::sync::Arc::clone(world.policy.phase("agent").unwrap());
    let other = std::sync::Arc::clone(world.policy.phase("other").unwrap());
    assert!(
        world.ruling.switch(&agent, Reach::Refused).await.is_empty(),
        "a phase that permits it cuts nothing"
    );
    client.write_all(b"x").await.unwrap();
    assert_eq!(client.read_u8().await.unwrap(), b'x');
    assert_eq!(world.ruling.switch(&other, Reach::Refused).await.len(), 1);
    assert_eq!(drain(&mut client).await, (Vec::new(), true));
    let (said, _) = world.exchange("203.0.113.10:443", &hello).await;
    assert_eq!(said, [21, 3, 1, 0, 2, 2, 49]);
    let (_, lines) = world.end().await;
    assert_eq!(verdict(&lines[0]), ("cut", "phase-changed"));
    assert_eq!((&lines[1]["phase"], &lines[1]["epoch"]), (&"other".into(), &3.into()));
}

/// G16: one connection too many is reset and recorded; when one ends, the next is served.
#[tokio::test]
async fn too_many() {
    let world =
        World::with(POLICY, NAMES, Limits { flows: 1, ..Limits::default() }, tempfile::tempfile().unwrap())
            .await;
    world.server("203.0.113.10:443", echo).await;
    let hello = hello(Some("api.example.com"));
    let mut first = world.connect("203.0.113.10:443").await;
    first.write_all(&hello).await.unwrap();
    let mut back = vec![0; hello.len()];
    first.read_exact(&mut back).await.unwrap();
    let (said, reset) = world.exchange("203.0.113.10:443", &hello).await;
    assert_eq!((said, reset), (Vec::new(), true));
    first.shutdown().await.unwrap();
    drain(&mut first).await;
    loop {
        let mut third = world.connect("203.0.113.10:443").await;
        if third.write_all(&hello).await.is_ok() && third.read_exact(&mut back).await.is_ok() {
            break;
        }
    }
    let (_, lines) = world.end().await;
    let limit = lines.iter().find(|line| line["reason"] == "limit").unwrap();
    assert_eq!(limit["original"], "203.0.113.10:443");
}

/// G12: two thousand connections at once, each alive and served while all the others are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once() {
    let world = std::sync::Arc::new(world().await);
    world.server("203.0.113.10:443", echo).await;
    let hello = hello(Some("api.example.com"));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..2000 {
        let (world, hello) = (world.clone(), hello.clone());
        tasks.spawn(async move {
            let mut client = world.connect("203.0.113.10:443").await;
            client.write_all(&hello).await.unwrap();
            let mut back = vec![0; hello.len()];
            client.read_exact(&mut back).await.unwrap();
            client
        });
    }
    for mut client in tasks.join_all().await {
        client.write_u8(7).await.unwrap();
        assert_eq!(client.read_u8().await.unwrap(), 7);
        client.shutdown().await.unwrap();
        assert_eq!(drain(&mut client).await, (Vec::new(), false));
    }
    let world = std::sync::Arc::into_inner(world).unwrap();
    let (summary, lines) = world.end().await;
    assert_eq!((summary.allowed, summary.cut, lines.len()), (2000, 0, 2000));
}

/// G13: when the log can't be written, the next connection is refused; the summary says so.
#[tokio::test]
async fn full_log() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let world = World::with(POLICY, NAMES, Limits::default(), full).await;
    world.server("203.0.113.10:443", echo).await;
    let hello = hello(Some("api.example.com"));
    loop {
        let mut client = world.connect("203.0.113.10:443").await;
        let mut back = vec![0; hello.len()];
        let served = client.write_all(&hello).await.is_ok() && client.read_exact(&mut back).await.is_ok();
        if !served {
            break;
        }
    }
    let summary = world.stop().await;
    assert!(summary.unrecorded >= 1);
    assert!(summary.log_error.unwrap().contains("No space left"));
}

/// G6, G16: out of descriptors, a connection is reset at once instead of waiting; when there are some again, the next is
/// served.
#[test]
fn out_of_descriptors() {
    // The limit is that of a whole process, so this one test gets a process of its own.
    const CHILD: &str = "CLOSEDBOOK_TEST_OUT_OF_DESCRIPTORS";
    if std::env::var_os(CHILD).is_none() {
        let test = std::env::current_exe().unwrap();
        let name = "outer::connection::tests::out_of_descriptors";
        let child =
            std::process::Command::new(test).args([name, "--exact"]).env(CHILD, "1").output().unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
        return;
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        let world = world().await;
        world.server("203.0.113.10:443", echo).await;
        let hello = hello(Some("api.example.com"));
        // The proxy has raised its limit when it serves.
        world.exchange("203.0.113.10:443", b"?").await;
        let sockets: Vec<_> = (0..50).map(|_| world.socket("203.0.113.10:443")).collect();
        let last = world.socket("203.0.113.10:443");
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
        setrlimit(Resource::RLIMIT_NOFILE, open + 10, hard).unwrap();
        let mut clients = Vec::new();
        for socket in sockets {
            clients.push(world.connect_by(socket).await);
        }
        // The reset may be there before the client looks for the first time.
        for client in clients.iter_mut().skip(40).flatten() {
            assert_eq!(drain(client).await, (Vec::new(), true));
        }
        drop(clients);
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
        let mut client = world.connect_by(last).await.unwrap();
        client.write_all(&hello).await.unwrap();
        let mut back = vec![0; hello.len()];
        client.read_exact(&mut back).await.unwrap();
        assert_eq!(back, hello);
    });
}

/// G13, G16: five hundred clients that send damaged hellos and requests and leave in every way there is: none is without
/// its record, none is a fault, and the next client is served.
#[tokio::test]
async fn hostile() {
    let world = world().await;
    world.server("203.0.113.10:443", echo).await;
    world.server("203.0.113.10:80", echo).await;
    let good = hello(Some("api.example.com"));
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let request = b"POST /a HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    for number in 0..500 {
        let tls = number % 2 == 0;
        let mut bytes = if tls { good.clone() } else { request.repeat(1 + random(3)) };
        for _ in 0..random(4) {
            let place = random(bytes.len());
            match random(3) {
                0 => bytes[place] = random(256) as u8,
                1 if bytes.len() > 1 => drop(bytes.remove(place)),
                _ => bytes.truncate(place.max(1)),
            }
        }
        let mut client = world.connect(if tls { "198.51.100.1:443" } else { "198.51.100.1:80" }).await;
        for piece in bytes.chunks(1 + random(bytes.len())) {
            let _ = client.write_all(piece).await;
        }
        match random(3) {
            0 => socket2::SockRef::from(&client).set_linger(Some(std::time::Duration::ZERO)).unwrap(),
            1 => {
                let _ = client.shutdown().await;
                drain(&mut client).await;
            }
            _ => {}
        }
    }
    let mut client = world.connect("198.51.100.1:443").await;
    client.write_all(&good).await.unwrap();
    let mut back = vec![0; good.len()];
    client.read_exact(&mut back).await.unwrap();
    assert_eq!(back, good);
    drop(client);
    let (_, lines) = world.end().await;
    assert!(lines.len() > 500);
    for line in &lines {
        assert_ne!(line["detail"], "a fault of closedbook");
        assert_eq!(
            line["verdict"] == "allow",
            line["reason"].is_null() && line["verdict"] != "cut",
            "{line}"
        );
    }
}
