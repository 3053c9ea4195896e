use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::outer::Reach;
use crate::outer::testing::web::{Seen, ok, web};
use crate::outer::testing::{World, drain};

const POLICY: &str = r#"
    schema = 1
    [phase.agent]
    allow = ["a.example", "b.example", "ws://ws.example:80"]
    [phase.narrow]
    allow = ["b.example"]
"#;

const NAMES: &[(&str, &[&str])] =
    &[("a.example", &["203.0.113.1"]), ("b.example", &["203.0.113.2"]), ("ws.example", &["203.0.113.3"])];

const A: &str = "203.0.113.1:80";
const B: &str = "203.0.113.2:80";
const WS: &str = "203.0.113.3:80";

async fn world() -> World {
    World::new(POLICY, NAMES).await
}

/// A server that says which host and path it was asked for.
async fn echo_host(world: &World, address: &str) -> Seen {
    web(world, address, |request| {
        let path = request.split(' ').nth(1).unwrap().to_owned();
        let host = request.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap_or("none").to_owned();
        ok(&format!("{host}{path}"))
    })
    .await
}

/// Reads one response of a known length from a kept connection.
async fn response(client: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length =
                length.lines().find_map(|line| line.strip_prefix("content-length: ").map(str::to_owned));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        let byte = client.read_u8().await;
        bytes.push(byte.unwrap_or_else(|error| panic!("{error} after {text:?}")));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn reasons(lines: &[serde_json::Value]) -> Vec<(String, String)> {
    let word = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    lines.iter().map(|line| (word(&line["verdict"]), word(&line["reason"]))).collect()
}

/// G3, G5: a permitted request reaches the server of its name, re-serialised, and the response comes back.
#[tokio::test]
async fn permitted() {
    let world = world().await;
    let seen = echo_host(&world, A).await;
    let request =
        b"GET /x?y HTTP/1.1\r\nHost: A.example.\r\nX-One: 1\r\nConnection: close, x-two\r\nX-Two: 2\r\n\r\n";
    let (answer, reset) = world.exchange("198.51.100.9:80", request).await;
    assert!(!reset);
    let answer = text(&answer);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\na.example/x?y"), "{answer}");
    assert_eq!(seen.all(), ["GET /x?y HTTP/1.1\r\nHost: a.example\r\nX-One: 1\r\n\r\n"]);
    let line = world.end_with_one().await;
    assert_eq!(
        (&line["verdict"], &line["kind"], &line["name"]),
        (&"allow".into(), &"http".into(), &"a.example".into())
    );
    assert_eq!(line["dialled"], "203.0.113.1:80");
    assert_eq!(line["bytes_up"], seen.all()[0].len());
    assert_eq!(line["bytes_down"], ok("a.example/x?y").len());
}

/// G5: a request for another host on a kept connection is refused, and reaches neither server.
#[tokio::test]
async fn host_switch_on_a_kept_connection() {
    let world = world().await;
    let seen = echo_host(&world, A).await;
    let mut client = world.connect(A).await;
    client.write_all(b"GET /1 HTTP/1.1\r\nHost: a.example\r\n\r\n").await.unwrap();
    assert!(response(&mut client).await.ends_with("a.example/1"));
    client.write_all(b"GET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n").await.unwrap();
    let (answer, reset) = drain(&mut client).await;
    let answer = text(&answer);
    assert!(!reset);
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(answer.contains("x-closedbook-reason: name-not-allowed\r\n"), "{answer}");
    assert!(answer.contains("useless"), "{answer}");
    assert!(answer.contains("in phase agent: evil.example\n"), "{answer}");
    assert_eq!(seen.lines(), ["GET /1 HTTP/1.1"]);
    let (_, lines) = world.end().await;
    assert_eq!(reasons(&lines), [("allow".into(), "-".into()), ("deny".into(), "name-not-allowed".into())]);
    assert_eq!(lines[1]["name"], "evil.example");
}

/// G5: a kept connection may go on to another permitted host, over a connection of its own.
#[tokio::test]
async fn permitted_host_switch_goes_to_its_own_server() {
    let world = world().await;
    let (a, b) = (echo_host(&world, A).await, echo_host(&world, B).await);
    let mut client = world.connect(A).await;
    for (host, path) in [("a.example", "/1"), ("b.example", "/2"), ("b.example", "/3"), ("a.example", "/4")] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        assert!(response(&mut client).await.ends_with(&format!("{host}{path}")));
    }
    assert_eq!(a.lines(), ["GET /1 HTTP/1.1", "GET /4 HTTP/1.1"]);
    assert_eq!(b.lines(), ["GET /2 HTTP/1.1", "GET /3 HTTP/1.1"]);
    // One connection per run of requests to the same host.
    assert_eq!(world.dialled(), [A, B, A]);
}

/// G12: pipelined requests are answered in their order.
#[tokio::test]
async fn pipelined() {
    let world = world().await;
    let seen = echo_host(&world, A).await;
    let requests: String = (1..=5).map(|n| format!("GET /{n} HTTP/1.1\r\nHost: a.example\r\n\r\n")).collect();
    let mut client = world.connect(A).await;
    client.write_all(requests.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let (answers, reset) = drain(&mut client).await;
    assert!(!reset);
    let answers = text(&answers);
    let bodies: Vec<_> = answers.match_indices("a.example/").map(|(at, _)| &answers[at..at + 11]).collect();
    assert_eq!(bodies, ["a.example/1", "a.example/2", "a.example/3", "a.example/4", "a.example/5"]);
    assert_eq!(seen.lines().len(), 5);
    assert_eq!(world.dialled(), [A]);
    let (summary, lines) = world.end().await;
    assert_eq!(summary.allowed, 5);
    assert_eq!(lines.len(), 5);
}

/// G5: in a pipeline, the answers before a refused request come first, and nothing after it is looked at.
#[tokio::test]
async fn refused_in_a_pipeline() {
    let world = world().await;
    let seen = echo_host(&world, A).await;
    for (bad, status) in [
        ("GET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
        ("GET /2 HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n", "400"),
        ("GET http://b.example/2 HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
        ("CONNECT b.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n", "405"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
    ] {
        let request = format!(
            "GET /1 HTTP/1.1\r\nHost: a.example\r\n\r\n{bad}GET /3 HTTP/1.1\r\nHost: a.example\r\n\r\n"
        );
        let (answer, reset) = world.exchange(A, request.as_bytes()).await;
        let answer = text(&answer);
        assert!(!reset, "{bad:?}: {answer}");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{bad:?}: {answer}");
        assert!(answer.contains(&format!("a.example/1HTTP/1.1 {status} ")), "{bad:?}: {answer}");
        assert!(!answer.contains("/3"), "{bad:?}: {answer}");
    }
    assert_eq!(seen.lines(), ["GET /1 HTTP/1.1"; 5]);
}

/// G5: what could be counted in two ways is refused before a byte of it reaches a server.
#[tokio::test]
async fn smuggling() {
    let world = world().await;
    let seen = echo_host(&world, A).await;
    let hidden = "GET /hidden HTTP/1.1\r\nHost: b.example\r\n\r\n";
    for framing in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked\t",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: xchunked",
        "Content-Length: 0\r\nContent-Length: 44",
        "Content-Length: +0",
        "Content-Length: 0x2c",
        "Content_Length: 44",
        " Content-Length: 44",
        "X: y\n Content-Length: 44",
    ] {
        let request = format!("POST / HTTP/1.1\r\nHost: a.example\r\n{framing}\r\n\r\n0\r\n\r\n{hidden}");
        let (answer, _) = world.exchange(A, request.as_bytes()).await;
        let answer = text(&answer);
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{framing:?}: {answer}");
        assert!(answer.contains("x-closedbook-reason: http-malformed\r\n"), "{framing:?}: {answer}");
    }
    assert_eq!(seen.all(), Vec::<String>::new());
    assert!(world.dialled().is_empty());
}

/// G5: a body that turns bad on its way is answered, ends the exchange, and never completes at the server.
#[tokio::test]
async fn bad_chunk() {
    let world = world().await;
    let seen = echo_host(&world, A).await;
    let request =
        "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n5;x=\r\nGET /";
    let (answer, _) = world.exchange(A, request.as_bytes()).await;
    assert!(text(&answer).starts_with("HTTP/1.1 400 Bad Request\r\n"), "{}", text(&answer));
    assert_eq!(seen.all(), Vec::<String>::new());
    let line = world.end_with_one().await;
    assert_eq!((&line["verdict"], &line["reason"]), (&"deny".into(), &"http-malformed".into()));
}

/// G12: the server's word decides whether a body is sent, and passes on at once.
#[tokio::test]
async fn expect_continue() {
    let world = world().await;
    world
        .server(A, async |mut stream| {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            assert!(text(&head).contains("Expect: 100-continue\r\n"), "{}", text(&head));
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
            let mut body = [0; 5];
            stream.read_exact(&mut body).await.unwrap();
            stream.write_all(&ok(&text(&body))).await.unwrap();
        })
        .await;
    let mut client = world.connect(A).await;
    let head = "PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    client.write_all(head.as_bytes()).await.unwrap();
    let mut word = [0; 25];
    client.read_exact(&mut word).await.unwrap();
    assert_eq!(text(&word), "HTTP/1.1 100 Continue\r\n\r\n");
    client.write_all(b"hello").await.unwrap();
    assert!(response(&mut client).await.ends_with("\r\n\r\nhello"));
}

/// G12: a server that wants no body says so before one is sent.
#[tokio::test]
async fn expect_refused_by_the_server() {
    let world = world().await;
    world
        .server(A, async |mut stream| {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let no = b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(no).await.unwrap();
            assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0, "no body may come");
        })
        .await;
    let head = "PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    let mut client = world.connect(A).await;
    client.write_all(head.as_bytes()).await.unwrap();
    assert!(response(&mut client).await.starts_with("HTTP/1.1 417 Expectation Failed\r\n"));
}

/// G12: other interim responses pass too, before the final one is there.
#[tokio::test]
async fn early_hints() {
    let world = world().await;
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    let gone = go.clone();
    world
        .server(A, move |mut stream| {
            let gone = gone.clone();
            async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                stream.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\n").await.unwrap();
                gone.notified().await;
                stream.write_all(&ok("late")).await.unwrap();
            }
        })
        .await;
    let mut client = world.connect(A).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").await.unwrap();
    assert_eq!(response(&mut client).await, "HTTP/1.1 103 Early Hints\r\nlink: </s>\r\n\r\n");
    go.notify_one();
    assert!(response(&mut client).await.ends_with("\r\n\r\nlate"));
}

/// G12: chunks and announced trailers pass in both directions.
#[tokio::test]
async fn chunks_and_trailers() {
    let world = world().await;
    let seen = web(&world, A, |_| {
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n".to_vec()
    })
    .await;
    let request = "POST / HTTP/1.1\r\nHost: a.example\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\
                   Trailer: X-Sum\r\nConnection: close\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n";
    let (answer, reset) = world.exchange(A, request.as_bytes()).await;
    let (answer, asked) = (text(&answer), seen.all().remove(0));
    assert!(!reset);
    assert!(answer.to_ascii_lowercase().ends_with("3\r\nabc\r\n0\r\nx-sum: 9\r\n\r\n"), "{answer}");
    assert!(asked.to_ascii_lowercase().ends_with("2\r\nok\r\n0\r\nx-sum: 7\r\n\r\n"), "{asked}");
    assert_eq!(asked.matches("chunked").count(), 1, "{asked}");
}

/// G12: a chunked body of a method that seldom has one is not lost.
#[tokio::test]
async fn chunked_get() {
    let world = world().await;
    let seen = web(&world, A, |_| ok("")).await;
    let request = "GET / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                   2\r\nok\r\n0\r\n\r\n";
    world.exchange(A, request.as_bytes()).await;
    assert!(seen.all()[0].ends_with("\r\n\r\n2\r\nok\r\n0\r\n\r\n"), "{:?}", seen.all());
}

/// G12: HEAD, HTTP/1.0 and bodies that end with the connection.
#[tokio::test]
async fn other_shapes() {
    let world = world().await;
    web(&world, A, |request| match request.split(' ').next().unwrap() {
        "HEAD" => b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".to_vec(),
        _ => b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nuntil the end".to_vec(),
    })
    .await;
    let (answer, _) =
        world.exchange(A, b"HEAD / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n").await;
    assert!(text(&answer).to_ascii_lowercase().contains("content-length: 1000\r\n"), "{}", text(&answer));
    assert!(text(&answer).ends_with("\r\n\r\n"));
    let (answer, _) = world.exchange(A, b"GET / HTTP/1.0\r\nHost: a.example\r\n\r\n").await;
    assert!(text(&answer).starts_with("HTTP/1.0 200 OK\r\n"), "{}", text(&answer));
    assert!(text(&answer).ends_with("\r\n\r\nuntil the end"), "{}", text(&answer));
}

/// G12: a server that closed an idle kept connection is dialled anew, unnoticed by the client.
#[tokio::test]
async fn stale_kept_connection() {
    let world = world().await;
    let seen = web(&world, A, |request| match request.contains("/1 ") {
        true => b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nKeep-Alive: timeout=0\r\n\r\n1connection: close"
            .to_vec(),
        false => ok("2"),
    })
    .await;
    // What the server sends behind its first response ends its connection: nothing more can be read from it.
    let mut client = world.connect(A).await;
    for path in ["/1", "/2"] {
        client.write_all(format!("GET {path} HTTP/1.1\r\nHost: a.example\r\n\r\n").as_bytes()).await.unwrap();
        assert!(response(&mut client).await.ends_with(&path[1..]));
    }
    assert_eq!(seen.lines(), ["GET /1 HTTP/1.1", "GET /2 HTTP/1.1"]);
    assert_eq!(world.dialled(), [A, A]);
}

/// G12: a server that ends without an answer, or in the middle of one, is a reset for the client, not a made-up answer.
#[tokio::test]
async fn server_breaks_off() {
    let world = world().await;
    world
        .server(A, async |mut stream| {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            if text(&head).contains("/half") {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345").await.unwrap();
            }
        })
        .await;
    let (answer, reset) = world.exchange(A, b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").await;
    assert_eq!((text(&answer).as_str(), reset), ("", true));
    let (answer, reset) = world.exchange(A, b"GET /half HTTP/1.1\r\nHost: a.example\r\n\r\n").await;
    assert!(reset);
    assert!(text(&answer).ends_with("12345") || answer.is_empty(), "{}", text(&answer));
    let (_, lines) = world.end().await;
    assert_eq!(reasons(&lines), [("allow".into(), "-".into()), ("allow".into(), "-".into())]);
    assert_eq!(lines[1]["detail"], "the server broke off its response");
}

const HANDSHAKE: &str =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13";

/// A server that agrees to a websocket and then gives back what it gets, after a greeting right behind its response.
async fn websocket(mut stream: TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(text(&head).to_ascii_lowercase().contains("\r\nupgrade: websocket\r\n"), "{}", text(&head));
    let yes = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                Sec-WebSocket-Accept: v\r\n\r\nhello";
    stream.write_all(yes).await.unwrap();
    crate::outer::testing::echo(stream).await;
}

/// G5, G12: a websocket that the entry permits opens after the server's 101, and then bytes run both ways.
#[tokio::test]
async fn websocket_permitted() {
    let world = world().await;
    world.server(WS, websocket).await;
    let mut client = world.connect(WS).await;
    // Bytes that did not wait for the answer are held back until it is yes.
    let request = format!("GET /s HTTP/1.1\r\nHost: ws.example\r\n{HANDSHAKE}\r\n\r\nearly ");
    client.write_all(request.as_bytes()).await.unwrap();
    let answer = response(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{answer}");
    client.write_all(b"bird").await.unwrap();
    client.shutdown().await.unwrap();
    let (echoed, reset) = drain(&mut client).await;
    assert_eq!((text(&echoed).as_str(), reset), ("helloearly bird", false));
    let line = world.end_with_one().await;
    assert_eq!((&line["verdict"], &line["rule"]), (&"allow".into(), &"ws://ws.example:80".into()));
}

/// G5: without a `ws://` entry the upgrade is refused, bytes sent ahead reach nobody, and the answer names the entry.
#[tokio::test]
async fn websocket_refused() {
    let world = world().await;
    let seen = echo_host(&world, A).await;
    let request = format!(
        "GET /s HTTP/1.1\r\nHost: a.example\r\n{HANDSHAKE}\r\n\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
    );
    let (answer, _) = world.exchange(A, request.as_bytes()).await;
    let answer = text(&answer);
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(answer.contains("x-closedbook-reason: http-upgrade\r\n"), "{answer}");
    assert!(answer.ends_with("in phase agent: ws://a.example\n"), "{answer}");
    assert!(seen.all().is_empty());
    assert!(world.dialled().is_empty());
    let line = world.end_with_one().await;
    assert_eq!(line["reason"], "http-upgrade");
}

/// G5: a server that says no to a websocket leaves the connection to HTTP, and what follows is read as requests.
#[tokio::test]
async fn websocket_declined() {
    let world = world().await;
    let seen = web(&world, WS, |_| ok("no")).await;
    let request = format!(
        "GET /s HTTP/1.1\r\nHost: ws.example\r\n{HANDSHAKE}\r\n\r\nGET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    );
    let (answer, _) = world.exchange(WS, request.as_bytes()).await;
    let answer = text(&answer);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\r\n\r\nnoHTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert_eq!(seen.lines(), ["GET /s HTTP/1.1"]);
}

/// G5: a server can't lead a connection out of HTTP by itself.
#[tokio::test]
async fn unasked_switch_of_protocols() {
    let world = world().await;
    let yes = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    web(&world, A, move |_| yes.to_vec()).await;
    let (answer, _) = world.exchange(A, b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").await;
    assert!(text(&answer).starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{}", text(&answer));
    assert_eq!(world.end_with_one().await["reason"], "dial-failed");
}

/// G5: the port of the Host field counts.
#[tokio::test]
async fn other_port_in_host() {
    let world = world().await;
    let (answer, _) = world.exchange(A, b"GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n").await;
    assert!(text(&answer).starts_with("HTTP/1.1 421 Misdirected Request\r\n"), "{}", text(&answer));
}

/// G4: a second head that does not come to its end is refused by its own deadline; silence between requests is not.
#[tokio::test(start_paused = true)]
async fn slow_second_head() {
    let world = world().await;
    echo_host(&world, A).await;
    let mut client = world.connect(A).await;
    client.write_all(b"GET /1 HTTP/1.1\r\nHost: a.example\r\n\r\n").await.unwrap();
    assert!(response(&mut client).await.ends_with("/1"));
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    client.write_all(b"GET /2 HTTP/1.1\r\nHost: a.example\r\n\r\nGET /3 HT").await.unwrap();
    assert!(response(&mut client).await.ends_with("/2"));
    let (answer, _) = drain(&mut client).await;
    assert!(text(&answer).starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{}", text(&answer));
}

/// G7: a switch of phase cuts the exchange under way on both sides, and says so.
#[tokio::test]
async fn switch_of_phase_cuts() {
    let world = world().await;
    let (closed, mut is_closed) = tokio::sync::mpsc::channel(1);
    world
        .server(A, move |mut stream| {
            let closed = closed.clone();
            async move {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345").await.unwrap();
                let (_, reset) = drain(&mut stream).await;
                closed.send(reset).await.unwrap();
            }
        })
        .await;
    let mut client = world.connect(A).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n").await.unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"12345") {
        seen.push(client.read_u8().await.unwrap());
    }
    let narrow = std::sync::Arc::clone(world.policy.phase("narrow").unwrap());
    assert_eq!(world.ruling.switch(&narrow, Reach::Refused).await.len(), 1);
    assert_eq!(is_closed.recv().await, Some(true), "the server's side is reset");
    assert_eq!(drain(&mut client).await, (Vec::new(), true));
    let line = world.end_with_one().await;
    assert_eq!((&line["verdict"], &line["reason"]), (&"cut".into(), &"phase-changed".into()));
}

/// G12: bodies of many megabytes pass in both directions at once, a piece at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies() {
    const SIZE: usize = 30_000_000;
    let world = world().await;
    world
        .server(A, async |mut stream| {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
            crate::outer::testing::echo(stream).await;
        })
        .await;
    let mut client = world.connect(A).await;
    let head = format!("PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: {SIZE}\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    let body: Vec<u8> = (0..SIZE).map(|at| (at % 251) as u8).collect();
    let (mut read, mut write) = client.split();
    let (sent, answer) = tokio::join!(write.write_all(&body), async {
        let mut answer = vec![0; head_length(SIZE) + SIZE];
        read.read_exact(&mut answer).await.unwrap();
        answer
    });
    sent.unwrap();
    assert!(answer.ends_with(&body));
    let line = world.end_with_one().await;
    assert!(line["bytes_up"].as_u64().unwrap() > SIZE as u64);
    assert!(line["bytes_down"].as_u64().unwrap() > SIZE as u64);
}

fn head_length(size: usize) -> usize {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").len()
}

/// G11: a client that is busy sending a large body still gets to read why it is refused.
#[tokio::test]
async fn refused_upload() {
    let world = world().await;
    let mut client = world.connect(A).await;
    let head = "PUT / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 50000000\r\n\r\n";
    client.write_all(head.as_bytes()).await.unwrap();
    let (mut read, mut write) = client.split();
    let body = vec![0; 50_000_000];
    let (answer, _) = tokio::join!(
        async {
            let mut answer = Vec::new();
            let _ = read.read_to_end(&mut answer).await;
            answer
        },
        write.write_all(&body)
    );
    assert!(text(&answer).starts_with("HTTP/1.1 403 Forbidden\r\n"), "{}", text(&answer));
}

/// G11: plain HTTP to a port that nothing permits is answered too, with the entry that would permit it.
#[tokio::test]
async fn closed_port() {
    let world = world().await;
    let (answer, _) =
        world.exchange("203.0.113.1:8080", b"GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n").await;
    let answer = text(&answer);
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(answer.contains("x-closedbook-reason: port-not-allowed\r\n"), "{answer}");
    assert!(answer.ends_with("in phase agent: a.example:8080\n"), "{answer}");
}
