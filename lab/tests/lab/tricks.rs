use std::io::ErrorKind;
use std::time::{Duration, Instant};

use closedbook_lab::{Arrival, Kind};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;

use crate::client::{answer, ask, get, head, https, tcp, timed, v4};
use crate::harness::Guest;

pub(crate) async fn a_reset_comes_in_the_middle_of_the_body(guest: Guest) {
    let mut stream = tcp((v4("example.com"), 80)).await;
    stream.write_all(b"GET /reset HTTP/1.1\r\nhost: example.com\r\n\r\n").await.unwrap();
    let head = head(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("content-length: 1048576"), "{head}");
    let mut body = Vec::new();
    let error = timed(stream.read_to_end(&mut body)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(body.len() <= 64 * 1024);
    let mut stream = https(&guest.ca(), "example.com").await;
    stream.write_all(b"GET /reset?after=2000 HTTP/1.1\r\nhost: example.com\r\n\r\n").await.unwrap();
    let error = timed(stream.read_to_end(&mut Vec::new())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

/// G12: half-close by the server.
pub(crate) async fn a_half_close_is_followed_by_reading(guest: Guest) {
    let mut stream = tcp((v4("example.com"), 80)).await;
    let said = ask(&mut stream, "GET /half-close HTTP/1.1\r\nhost: example.com\r\n\r\n").await;
    assert_eq!(said.text(), "I have said all I had to say\n");
    assert_eq!(timed(stream.read(&mut [0; 1])).await.unwrap(), 0, "the server's side is closed");
    let local = stream.local_addr().unwrap();
    stream.write_all(&[b'x'; 100_000]).await.unwrap();
    stream.shutdown().await.unwrap();
    // The server's side of the connection goes when it has read all; only then does it write down how much it was.
    let is_it =
        |one: &Arrival| one.proto == Kind::Tcp && one.peer_port == Some(local.port()) && one.detail.is_some();
    let seen = guest.awaited(is_it).await;
    assert_eq!((seen.detail.as_deref(), seen.bytes), (Some("after half-close"), 100_000));
}

/// G12: 100-continue.
pub(crate) async fn continue_is_said_before_the_body_and_not_when_refused(_: Guest) {
    let mut stream = tcp((v4("example.com"), 80)).await;
    let request =
        "POST /expect HTTP/1.1\r\nhost: example.com\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n";
    let interim = ask(&mut stream, request).await;
    assert_eq!(interim.status, 100);
    assert_eq!(ask(&mut stream, "abc").await.json()["bytes"], 3);
    let mut stream = tcp((v4("example.com"), 80)).await;
    let refused = ask(&mut stream, &request.replace("/expect", "/expect?refuse")).await;
    assert_eq!(refused.status, 417);
}

pub(crate) async fn early_hints_come_before_the_answer(guest: Guest) {
    for _ in 0..2 {
        let mut stream = https(&guest.ca(), "example.com").await;
        let hint = ask(&mut stream, "GET /early-hints HTTP/1.1\r\nhost: example.com\r\n\r\n").await;
        assert_eq!((hint.status, hint.header("link").is_some()), (103, true));
        assert_eq!(answer(&mut stream).await.text(), "the page\n");
        let next = ask(&mut stream, "GET /status/404 HTTP/1.1\r\nhost: example.com\r\n\r\n").await;
        assert_eq!(next.status, 404, "the connection goes on");
    }
}

/// The clock is only read to see that nothing came too early.
pub(crate) async fn slow_answers_are_slow_where_they_should_be(guest: Guest) {
    let wait = Duration::from_millis(150);
    let start = Instant::now();
    let mut stream = tcp((v4("example.com"), 80)).await;
    stream.write_all(b"GET /silent/0.15 HTTP/1.1\r\nhost: example.com\r\n\r\n").await.unwrap();
    assert!(head(&mut stream).await.starts_with("HTTP/1.1 200 "));
    let mut rest = vec![0; 5];
    timed(stream.read_exact(&mut rest)).await.unwrap();
    assert!(start.elapsed() >= wait);
    let start = Instant::now();
    get("example.com", "/slow-head/0.15").await;
    assert!(start.elapsed() >= wait);
    let start = Instant::now();
    get("example.com", "/drip/4/50").await;
    assert!(start.elapsed() >= wait);
    guest.fault("api.x.ai", "slow=0.15");
    let start = Instant::now();
    get("api.x.ai", "/").await;
    assert!(start.elapsed() >= wait);
    guest.fault("api.x.ai", "silent");
    let never = tokio::time::timeout(wait, get("api.x.ai", "/")).await;
    assert!(never.is_err());
}

/// G12: WebSocket inside TLS.
pub(crate) async fn a_websocket_sends_everything_back(guest: Guest) {
    let stream = https(&guest.ca(), "api.openai.com").await;
    let (mut socket, response) =
        timed(tokio_tungstenite::client_async("wss://api.openai.com/ws", stream)).await.unwrap();
    assert_eq!(response.status(), 101);
    for message in [Message::text("grüß"), Message::binary(vec![7; 200_000]), Message::text("")] {
        socket.send(message.clone()).await.unwrap();
        assert_eq!(timed(socket.next()).await.unwrap().unwrap(), message);
    }
    socket.send(Message::Ping(b"p".to_vec().into())).await.unwrap();
    assert_eq!(timed(socket.next()).await.unwrap().unwrap(), Message::Pong(b"p".to_vec().into()));
    socket.close(None).await.unwrap();
    while let Some(Ok(message)) = timed(socket.next()).await {
        assert!(message.is_close());
    }
    assert_eq!(get("api.openai.com", "/ws").await.status, 426);
}
