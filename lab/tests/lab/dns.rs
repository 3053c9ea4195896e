use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use closedbook_lab::{Kind, RESOLVER_V4, RESOLVER_V6, WITNESS_V4, World};
use hickory_proto::op::{Edns, Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;

use crate::client::{tcp, timed};
use crate::harness::Guest;

fn question(name: &str, kind: RecordType) -> Vec<u8> {
    let mut message = Message::query();
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(Name::from_ascii(format!("{name}.")).unwrap(), kind));
    message.to_vec().unwrap()
}

/// A connected socket takes answers from the address it asked alone.
async fn udp(server: impl Into<IpAddr>, question: &[u8]) -> Message {
    let server: IpAddr = server.into();
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await.unwrap();
    socket.connect((server, 53)).await.unwrap();
    socket.send(question).await.unwrap();
    let mut buffer = [0; 4096];
    let length = timed(socket.recv(&mut buffer)).await.unwrap();
    Message::from_vec(&buffer[..length]).unwrap()
}

async fn ask(name: &str, kind: RecordType) -> Message {
    udp(RESOLVER_V4, &question(name, kind)).await
}

fn addresses(message: &Message) -> Vec<IpAddr> {
    message.answers.iter().filter_map(|record| record.data.ip_addr()).collect()
}

pub(crate) async fn names_have_the_addresses_of_the_world(_: Guest) {
    let world = World::new();
    for host in world.hosts() {
        assert_eq!(
            addresses(&ask(host.name.as_str(), RecordType::A).await),
            [IpAddr::V4(host.v4)],
            "{}",
            host.name
        );
        assert_eq!(
            addresses(&ask(host.name.as_str(), RecordType::AAAA).await),
            [IpAddr::V6(host.v6)],
            "{}",
            host.name
        );
    }
    let mixed = ask("Api.OpenAI.com", RecordType::A).await;
    assert_eq!(addresses(&mixed), addresses(&ask("api.openai.com", RecordType::A).await));
    assert_eq!(
        mixed.queries[0].name().to_ascii(),
        "Api.OpenAI.com.",
        "the question comes back as it was written"
    );
    assert_eq!(addresses(&ask("deep.below.leak.test", RecordType::A).await), [IpAddr::V4(WITNESS_V4)]);
}

pub(crate) async fn answers_come_from_the_address_that_was_asked(_: Guest) {
    let asked = question("example.com", RecordType::A);
    let expected = addresses(&udp(RESOLVER_V4, &asked).await);
    let anywhere =
        ["8.8.8.8", "127.0.0.53", "203.0.113.77", "10.1.2.3"].map(|one| one.parse::<IpAddr>().unwrap());
    for server in anywhere.into_iter().chain([RESOLVER_V6.into(), "2001:4860:4860::8888".parse().unwrap()]) {
        assert_eq!(addresses(&udp(server, &asked).await), expected, "{server}");
    }
}

pub(crate) async fn names_that_are_special_are_answered_as_documented(guest: Guest) {
    for (name, code) in [
        ("nxdomain.test", ResponseCode::NXDomain),
        ("never.heard.of", ResponseCode::NXDomain),
        ("servfail.test", ResponseCode::ServFail),
        ("refused.test", ResponseCode::Refused),
        ("empty.test", ResponseCode::NoError),
    ] {
        let answer = ask(name, RecordType::A).await;
        assert_eq!((answer.metadata.response_code, answer.answers.len()), (code, 0), "{name}");
        let is_negative = matches!(code, ResponseCode::NXDomain | ResponseCode::NoError);
        assert_eq!(
            answer.authorities.iter().any(|one| one.record_type() == RecordType::SOA),
            is_negative,
            "{name}"
        );
    }
    for (name, expected) in [
        ("private.test", "10.0.0.5"),
        ("metadata.test", "169.254.169.254"),
        ("loopback.test", "127.0.0.1"),
        ("synthetic.test", "198.18.0.1"),
    ] {
        assert_eq!(
            addresses(&ask(name, RecordType::A).await),
            [expected.parse::<IpAddr>().unwrap()],
            "{name}"
        );
    }
    let turns = [ask("rebind.test", RecordType::A).await, ask("rebind.test", RecordType::A).await];
    assert_ne!(addresses(&turns[0]), addresses(&turns[1]));
    assert_eq!(turns[0].answers[0].ttl, 0);
    let alias = ask("alias-private.test", RecordType::A).await;
    assert!(matches!(alias.answers[0].data, RData::CNAME(_)));
    assert_eq!(addresses(&alias), ["10.0.0.5".parse::<IpAddr>().unwrap()]);
    assert!(addresses(&ask("v6only.test", RecordType::A).await).is_empty());
    assert_eq!(addresses(&ask("v6only.test", RecordType::AAAA).await).len(), 1);
    // A proof that the answer is this lab's.
    let text = ask("n0nce-7.leak.test", RecordType::TXT).await;
    let proof = guest.control().ask("proof n0nce-7.leak.test").unwrap();
    assert_eq!(text.answers[0].data.to_string(), proof.as_str().unwrap());
}

pub(crate) async fn silence_is_silence_and_disturbs_nobody(guest: Guest) {
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    socket.connect((RESOLVER_V4, 53)).await.unwrap();
    socket.send(&question("timeout.test", RecordType::A)).await.unwrap();
    let after = question("example.com", RecordType::A);
    socket.send(&after).await.unwrap();
    let mut buffer = [0; 512];
    timed(socket.recv(&mut buffer)).await.unwrap();
    assert_eq!(buffer[..2], after[..2], "the first answer belongs to the second question");
    guest.fault("example.org", "dns-failure");
    assert_eq!(ask("example.org", RecordType::A).await.metadata.response_code, ResponseCode::ServFail);
    guest.fault("example.org", "off");
    assert_eq!(addresses(&ask("example.org", RecordType::A).await).len(), 1);
}

/// G16: no bytes end the server.
pub(crate) async fn what_is_not_a_question_is_not_answered_as_one(_: Guest) {
    let mut broken = question("example.com", RecordType::A);
    broken.truncate(20);
    assert_eq!(udp(RESOLVER_V4, &broken).await.metadata.response_code, ResponseCode::FormErr);
    let mut answer = question("example.com", RecordType::A);
    answer[2] |= 0x80;
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    socket.connect((RESOLVER_V4, 53)).await.unwrap();
    for nonsense in [&answer[..], b"", b"x", &[0xff; 11], &[0xff; 600]] {
        socket.send(nonsense).await.unwrap();
    }
    let good = question("example.com", RecordType::A);
    socket.send(&good).await.unwrap();
    let mut buffer = [0; 512];
    timed(socket.recv(&mut buffer)).await.unwrap();
    assert_eq!(buffer[..2], good[..2], "nothing before it was answered");
    let mut message = Message::from_vec(&question("example.com", RecordType::A)).unwrap();
    let mut edns = Edns::new();
    edns.set_max_payload(4096);
    message.set_edns(edns);
    assert!(udp(RESOLVER_V4, &message.to_vec().unwrap()).await.edns.is_some(), "RFC 6891 section 6.1.1");
}

pub(crate) async fn every_question_is_witnessed_over_both_transports(guest: Guest) {
    ask("n0nce-udp.leak.test", RecordType::A).await;
    ask("n0nce-txt.nowhere", RecordType::TXT).await;
    let mut stream = tcp(SocketAddr::from((RESOLVER_V6, 53))).await;
    for name in ["n0nce-tcp1.leak.test", "n0nce-tcp2.leak.test"] {
        let asked = question(name, RecordType::AAAA);
        stream.write_u16(u16::try_from(asked.len()).unwrap()).await.unwrap();
        // In two segments, as a slow client would.
        stream.write_all(&asked[..5]).await.unwrap();
        stream.write_all(&asked[5..]).await.unwrap();
        let mut answer = vec![0; usize::from(timed(stream.read_u16()).await.unwrap())];
        timed(stream.read_exact(&mut answer)).await.unwrap();
        assert_eq!(addresses(&Message::from_vec(&answer).unwrap()).len(), 1);
    }
    for (nonce, detail) in [
        ("N0NCE-udp", "udp A"),
        ("N0NCE-txt", "udp TXT"),
        ("N0NCE-tcp1", "tcp AAAA"),
        ("N0NCE-tcp2", "tcp AAAA"),
    ] {
        let seen = guest.arrivals(nonce);
        assert_eq!(seen.len(), 1, "{nonce}: {seen:?}");
        assert_eq!((seen[0].proto, seen[0].detail.as_deref()), (Kind::Dns, Some(detail)));
    }
}
