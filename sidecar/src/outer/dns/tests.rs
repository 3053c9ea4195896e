use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RData, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use crate::outer::testing::World;

const POLICY: &str = r#"
    schema = 1
    phase.agent.allow = ["a.example", "*.wild.example", "tcp://git.example:22"]
"#;

async fn world() -> World {
    World::new(POLICY, &[("a.example", &["203.0.113.1"])]).await
}

fn query(name: &str, kind: RecordType) -> Message {
    let mut message = Message::new(0x1234, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
    message
}

async fn ask_udp(world: &World, message: &[u8]) -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.send_to(message, world.dns).await.unwrap();
    let mut buffer = [0; 4096];
    let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
    assert_eq!(from, world.dns, "the answer comes from where the question went");
    buffer[..length].to_vec()
}

async fn ask(world: &World, message: &Message) -> Message {
    Message::from_vec(&ask_udp(world, &message.to_vec().unwrap()).await).unwrap()
}

fn addresses(message: &Message) -> Vec<String> {
    let address = |data: &RData| match data {
        RData::A(address) => address.to_string(),
        other => panic!("{other:?}"),
    };
    message.answers.iter().map(|record| address(&record.data)).collect()
}

/// G9: a permitted name gets its made-up address, the same for every question; nobody upstream is asked.
#[tokio::test]
async fn synthetic() {
    let world = world().await;
    let first = ask(&world, &query("a.example.", RecordType::A)).await;
    assert_eq!(first.metadata.id, 0x1234);
    assert_eq!(first.metadata.response_code, ResponseCode::NoError);
    assert_eq!(addresses(&first), ["198.18.0.1"]);
    assert_eq!(addresses(&ask(&world, &query("x.wild.example.", RecordType::A)).await), ["198.18.0.2"]);
    assert_eq!(addresses(&ask(&world, &query("git.example.", RecordType::A)).await), ["198.18.0.3"]);
    assert_eq!(addresses(&ask(&world, &query("A.Example.", RecordType::A)).await), ["198.18.0.1"]);
    assert!(world.names.asked().is_empty());
    let (summary, lines) = world.end().await;
    assert_eq!(summary.allowed, 4);
    assert_eq!((&lines[0]["kind"], &lines[0]["name"]), (&"dns".into(), &"a.example".into()));
    assert_eq!(lines[0]["detail"], "A 198.18.0.1");
    assert_eq!(lines[0]["rule"], "a.example");
}

/// G9: other types of a permitted name have no data: no ECH keys, no other ports, no IPv6.
#[tokio::test]
async fn other_types() {
    let world = world().await;
    for kind in [
        RecordType::AAAA,
        RecordType::HTTPS,
        RecordType::SVCB,
        RecordType::TXT,
        RecordType::MX,
        RecordType::ANY,
    ] {
        let answer = ask(&world, &query("a.example.", kind)).await;
        assert_eq!(answer.metadata.response_code, ResponseCode::NoError, "{kind}");
        assert!(answer.answers.is_empty(), "{kind}");
        assert_eq!(answer.authorities.len(), 1, "{kind}");
    }
    assert!(world.names.asked().is_empty());
}

/// G9, G11: any other name does not exist, is told so at once, and no byte of the question goes anywhere.
#[tokio::test]
async fn other_names() {
    let world = world().await;
    for (name, kind) in [
        ("evil.example.", RecordType::A),
        ("data.in.labels.evil.example.", RecordType::TXT),
        ("wild.example.", RecordType::A),
        ("a.example.corp.internal.", RecordType::A),
        ("1.0.18.198.in-addr.arpa.", RecordType::PTR),
        (".", RecordType::NS),
    ] {
        let answer = ask(&world, &query(name, kind)).await;
        assert_eq!(answer.metadata.response_code, ResponseCode::NXDomain, "{name}");
    }
    assert!(world.names.asked().is_empty());
    let (summary, lines) = world.end().await;
    assert!(lines.iter().all(|line| line["reason"] == "dns-name" && line["verdict"] == "deny"), "{lines:#?}");
    assert_eq!(lines.len(), 6);
    let mut refused: Vec<_> = summary.refused.iter().map(|refused| refused.host.as_str()).collect();
    refused.sort_unstable();
    assert_eq!(
        refused,
        [".", "data.in.labels.evil.example", "evil.example", "wild.example"],
        "no reverse lookups, nothing that a search list made"
    );
}

/// G11: a client that speaks EDNS is told that it was blocked.
#[tokio::test]
async fn extended_error() {
    let world = world().await;
    let mut message = query("evil.example.", RecordType::A);
    message.set_edns(Edns::new());
    let answer = ask_udp(&world, &message.to_vec().unwrap()).await;
    let text = b"closedbook: phase agent";
    assert!(answer.windows(text.len()).any(|window| window == text), "{answer:?}");
}

/// G16: what is no question gets the answer that fits, or none, and the next question is served.
#[tokio::test]
async fn malformed() {
    let world = world().await;
    let mut two = query("a.example.", RecordType::A);
    two.add_query(two.queries[0].clone());
    let answer = ask(&world, &two).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::FormErr);
    let mut chaos = query("a.example.", RecordType::A);
    chaos.queries[0].set_query_class(DNSClass::CH);
    assert_eq!(ask(&world, &chaos).await.metadata.response_code, ResponseCode::Refused);
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    silent.send_to(b"x", world.dns).await.unwrap();
    assert_eq!(addresses(&ask(&world, &query("a.example.", RecordType::A)).await), ["198.18.0.1"]);
    let (_, lines) = world.end().await;
    let reasons: Vec<_> = lines.iter().map(|line| line["reason"].as_str().unwrap_or("-")).collect();
    assert_eq!(reasons, ["dns-malformed", "dns-type", "dns-malformed", "-"]);
}

/// G9: the same over TCP, several questions on one connection, in pieces.
#[tokio::test]
async fn tcp() {
    let world = world().await;
    let mut stream = TcpStream::connect(world.dns_tcp).await.unwrap();
    let mut bytes = Vec::new();
    for name in ["a.example.", "evil.example.", "a.example."] {
        let message = query(name, RecordType::A).to_vec().unwrap();
        bytes.extend((message.len() as u16).to_be_bytes());
        bytes.extend(message);
    }
    for piece in bytes.chunks(7) {
        stream.write_all(piece).await.unwrap();
    }
    let mut codes = Vec::new();
    for _ in 0..3 {
        let mut answer = vec![0; stream.read_u16().await.unwrap().into()];
        stream.read_exact(&mut answer).await.unwrap();
        codes.push(Message::from_vec(&answer).unwrap().metadata.response_code);
    }
    assert_eq!(codes, [ResponseCode::NoError, ResponseCode::NXDomain, ResponseCode::NoError]);
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    let (_, lines) = world.end().await;
    assert_eq!(lines.len(), 3);
}

/// G16: a stream that can't be cut into messages is reset.
#[tokio::test]
async fn tcp_malformed() {
    let world = world().await;
    let mut stream = TcpStream::connect(world.dns_tcp).await.unwrap();
    stream.write_all(&[0xff, 0xff, 1, 2, 3]).await.unwrap();
    assert!(stream.read(&mut [0]).await.is_err());
    assert_eq!(world.end_with_one().await["reason"], "dns-malformed");
}

/// Mode `real`: the resolver's addresses, but for names whose address is their evidence.
#[tokio::test]
async fn real() {
    let policy = format!("{POLICY}\n[dns]\nanswers = \"real\"");
    let names: &[(&str, &[&str])] = &[("a.example", &["203.0.113.1"]), ("git.example", &["203.0.113.22"])];
    let world = World::new(&policy, names).await;
    assert_eq!(addresses(&ask(&world, &query("a.example.", RecordType::A)).await), ["203.0.113.1"]);
    assert_eq!(addresses(&ask(&world, &query("git.example.", RecordType::A)).await), ["198.18.0.1"]);
    let answer = ask(&world, &query("gone.wild.example.", RecordType::A)).await;
    assert_eq!(answer.metadata.response_code, ResponseCode::ServFail);
}
