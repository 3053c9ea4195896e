use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;

use closedbook_lab::{Arrival, Kind, WITNESS_V4, WITNESS_V6};
use nix::sys::socket::{LinkAddr, MsgFlags, recvfrom, sendto};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;

use crate::client::{get, line, tcp, timed};
use crate::harness::Guest;

fn one(guest: &Guest, nonce: &str, kind: Kind) -> Arrival {
    let mut seen = guest.arrivals(nonce);
    seen.retain(|one| one.proto == kind);
    assert_eq!(seen.len(), 1, "{nonce}: {seen:?}");
    seen.remove(0)
}

pub(crate) async fn servers_that_speak_first_do(guest: Guest) {
    for port in [21, 22, 25, 110, 143, 587, 3306] {
        let mut stream = tcp((WITNESS_V4, port)).await;
        let banner = line(&mut stream).await;
        let nonce = banner.strip_prefix("LAB-BANNER ").unwrap().trim_end();
        assert_eq!(one(&guest, nonce, Kind::Tcp).local_port, Some(port));
    }
}

pub(crate) async fn anything_else_is_echoed_and_written_down(guest: Guest) {
    for (port, address) in
        [(443, IpAddr::V4(WITNESS_V4)), (5432, WITNESS_V6.into()), (1, "1.2.3.4".parse().unwrap())]
    {
        let nonce = format!("N0NCE-raw{port}");
        let mut stream = tcp((address, port)).await;
        stream.write_all(format!("\u{5}{nonce}\n").as_bytes()).await.unwrap();
        let proof = guest.control().ask(&format!("proof {nonce}")).unwrap();
        assert_eq!(line(&mut stream).await, format!("LAB-WITNESS {nonce} {}\n", proof.as_str().unwrap()));
        assert_eq!(line(&mut stream).await, format!("\u{5}{nonce}\n"));
        stream.write_all(b"more").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = String::new();
        timed(stream.read_to_string(&mut rest)).await.unwrap();
        assert_eq!(rest, "more", "the echo goes on after a half-close");
        let seen = one(&guest, &nonce, Kind::Tcp);
        assert_eq!((seen.local, seen.local_port), (Some(address), Some(port)));
    }
}

pub(crate) async fn what_is_no_request_has_arrived_all_the_same(guest: Guest) {
    let folded = |nonce| format!("GET / HTTP/1.1\r\nHost: a.test\r\n folded: {nonce}\r\n\r\n");
    for (nonce, odd) in [
        ("N0NCE-odd1", folded("N0NCE-odd1")),
        ("N0NCE-odd2", format!("GET / HTTP/1.1\r\nHost: witness.test\r\n\r\n{}", folded("N0NCE-odd2"))),
        // Where the first octets that the server reads by themselves end in the middle of it.
        ("N0NCE-odd3", "GET /?nonce=N0NCE-odd3 HTTP/3.0\r\n\r\n".to_owned()),
    ] {
        let mut stream = tcp((WITNESS_V4, 80)).await;
        stream.write_all(odd.as_bytes()).await.unwrap();
        let mut answers = String::new();
        timed(stream.read_to_string(&mut answers)).await.unwrap();
        assert!(answers.contains("HTTP/1.1 400"), "{answers}");
        let seen = one(&guest, nonce, Kind::Http);
        assert_eq!((seen.local, seen.name.as_deref()), (Some(WITNESS_V4.into()), None));
        assert!(seen.detail.unwrap().starts_with("no request: "));
    }
}

pub(crate) async fn a_request_behind_an_ambiguous_one_has_arrived(guest: Guest) {
    let hidden = "GET /hidden HTTP/1.1\r\nHost: evil.test\r\nX-Nonce: N0NCE-hidden1\r\n\r\n";
    let body = format!("0\r\n\r\n{hidden}");
    let length = format!("Content-Length: {}\r\n", body.len());
    // Where the length is all there is, it is a body and nothing else.
    for (fields, arrivals) in [(length.clone(), 0), (format!("{length}Transfer-Encoding: chunked\r\n"), 1)] {
        let mut stream = tcp((WITNESS_V4, 80)).await;
        let head = format!("POST / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n{fields}\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut answers = String::new();
        timed(stream.read_to_string(&mut answers)).await.unwrap();
        assert!(answers.starts_with("HTTP/1.1 200"), "{answers}");
        let seen = guest.arrivals("N0NCE-hidden1");
        let hidden = seen.iter().filter(|one| one.name.as_deref() == Some("evil.test"));
        assert_eq!(hidden.count(), arrivals, "{fields}: {seen:?}");
    }
}

pub(crate) async fn datagrams_are_answered_from_where_they_were_sent_to(guest: Guest) {
    for (port, address) in
        [(443, IpAddr::V4(WITNESS_V4)), (51820, WITNESS_V6.into()), (123, "9.8.7.6".parse().unwrap())]
    {
        let nonce = format!("N0NCE-udp{port}");
        let any: IpAddr =
            if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0)).await.unwrap();
        socket.connect((address, port)).await.unwrap();
        socket.send(nonce.as_bytes()).await.unwrap();
        let mut buffer = [0; 512];
        let length = timed(socket.recv(&mut buffer)).await.unwrap();
        assert!(buffer[..length].starts_with(format!("LAB-WITNESS {nonce} ").as_bytes()));
        let seen = one(&guest, &nonce, Kind::Udp);
        assert_eq!((seen.local, seen.local_port), (Some(address), Some(port)));
    }
}

pub(crate) async fn packets_to_no_listener_are_seen(guest: Guest) {
    let socket = UdpSocket::bind("[::]:0").await.unwrap();
    socket.send_to(b"N0NCE-odd4", (WITNESS_V4.to_ipv6_mapped(), 40_404)).await.unwrap();
    socket.send_to(b"N0NCE-odd6", (WITNESS_V6, 40_404)).await.unwrap();
    socket.send_to(b"N0NCE-multi", ("ff02::fb".parse::<Ipv6Addr>().unwrap(), 5353)).await.unwrap();
    for (nonce, local) in [("N0NCE-odd4", IpAddr::V4(WITNESS_V4)), ("N0NCE-odd6", WITNESS_V6.into())] {
        let seen = one(&guest, nonce, Kind::Udp);
        assert_eq!((seen.local, seen.local_port, seen.ascii.as_str()), (Some(local), Some(40_404), nonce));
    }
    assert_eq!(one(&guest, "N0NCE-multi", Kind::Udp).local_port, Some(5353));
    // A SYN to a port where nobody listens.
    let refused = tokio::net::TcpStream::connect((WITNESS_V4, 40_405)).await;
    assert!(refused.is_err());
    let all = guest.control().arrivals().unwrap();
    assert!(all.iter().any(|one| one.proto == Kind::TcpSyn && one.local_port == Some(40_405)));
    // A datagram as large as the loopback's MTU allows: the tap keeps its head and its length.
    let big = [b"N0NCE-frag".as_slice(), &[b'x'; 65_000]].concat();
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    socket.send_to(&big, (WITNESS_V4, 40_406)).await.unwrap();
    assert_eq!(guest.arrivals("N0NCE-frag").iter().filter(|one| one.proto == Kind::Udp).count(), 1);
}

fn raw(domain: Domain, protocol: i32) -> Socket {
    Socket::new(domain, Type::RAW, Some(Protocol::from(protocol))).unwrap()
}

fn address(ip: impl Into<IpAddr>) -> SockAddr {
    SocketAddr::new(ip.into(), 0).into()
}

fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

/// A TCP segment without a valid checksum: no stack would take it, and it arrives all the same.
fn segment(flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x9c, 0x40, 0x01, 0xbb, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 4, 0, 0, 0, 0, 0];
    bytes.extend(payload);
    bytes
}

/// A frame straight to the interface, past routing and all rules, that says it is IPv4 and is not. The address of the
/// interface is taken from a packet that was seen on it.
async fn send_frame(content: &[u8]) {
    let all = Protocol::from(i32::from(0x0003_u16.to_be()));
    let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(all)).unwrap();
    UdpSocket::bind("127.0.0.1:0").await.unwrap().send_to(b"x", "127.0.0.1:40407").await.unwrap();
    let (_, seen) = recvfrom::<LinkAddr>(socket.as_raw_fd(), &mut [0; 64]).unwrap();
    sendto(socket.as_raw_fd(), content, &seen.unwrap(), MsgFlags::empty()).unwrap();
}

pub(crate) async fn hand_made_packets_are_seen(guest: Guest) {
    let mut echo = [&[8, 0, 0, 0, 0, 77, 0, 1][..], b"N0NCE-ping"].concat();
    let sum = checksum(&echo);
    echo[2..4].copy_from_slice(&sum);
    raw(Domain::IPV4, 1).send_to(&echo, &address(WITNESS_V4)).unwrap();
    let echo6 = [&[128, 0, 0, 0, 0, 77, 0, 1][..], b"N0NCE-ping6"].concat();
    raw(Domain::IPV6, 58).send_to(&echo6, &address(WITNESS_V6)).unwrap();
    for (number, name) in [(47, "gre"), (50, "esp"), (132, "sctp"), (136, "lite"), (253, "test")] {
        raw(Domain::IPV4, number).send_to(format!("N0NCE-{name}").as_bytes(), &address(WITNESS_V4)).unwrap();
        raw(Domain::IPV6, number).send_to(format!("N0NCE-{name}6").as_bytes(), &address(WITNESS_V6)).unwrap();
    }
    for (flags, name) in [(0x00, "null"), (0x03, "synfin"), (0x10, "ack"), (0x29, "xmas"), (0x06, "synrst")] {
        let bytes = segment(flags, format!("N0NCE-{name}").as_bytes());
        raw(Domain::IPV4, 6).send_to(&bytes, &address(WITNESS_V4)).unwrap();
    }
    raw(Domain::IPV4, 6).send_to(&segment(0x02, b"N0NCE-syndata"), &address(WITNESS_V4)).unwrap();
    // The kernel fills in the sums, the source and the number of a header that comes with the packet.
    let mut fragment = vec![0x45, 0, 0, 0, 0, 0, 0x20, 0, 64, 17, 0, 0, 0, 0, 0, 0];
    fragment.extend(WITNESS_V4.octets());
    fragment.extend(b"N0NCE-part");
    raw(Domain::IPV4, 255).send_to(&fragment, &address(WITNESS_V4)).unwrap();
    send_frame(b"\0N0NCE-frame").await;
    // Both the request and the kernel's reply go over the one interface.
    for (nonce, kind) in [("N0NCE-ping", Kind::Icmp), ("N0NCE-ping6", Kind::Icmpv6)] {
        let seen = guest.arrivals(nonce);
        assert!(
            seen.iter().any(|one| one.proto == kind && one.nonce.as_deref() == Some(nonce)),
            "{nonce}: {seen:?}"
        );
    }
    for name in ["gre", "esp", "sctp", "lite", "test"] {
        for nonce in [format!("N0NCE-{name}"), format!("N0NCE-{name}6")] {
            let mut seen = guest.arrivals(&nonce);
            seen.retain(|one| one.proto == Kind::Ip && one.nonce.as_ref() == Some(&nonce));
            assert_eq!(seen.len(), 1, "{nonce}: {seen:?}");
        }
    }
    for name in ["null", "synfin", "ack", "xmas", "synrst"] {
        assert_eq!(one(&guest, &format!("N0NCE-{name}"), Kind::TcpSegment).local_port, Some(443), "{name}");
    }
    assert_eq!(one(&guest, "N0NCE-frame", Kind::Frame).detail.as_deref(), Some("ethertype 0x0800"));
    assert_eq!(one(&guest, "N0NCE-syndata", Kind::TcpSyn).bytes, 13);
    assert_eq!(one(&guest, "N0NCE-part", Kind::Ip).detail.as_deref(), Some("protocol 17"));
    assert_eq!(guest.control().ask("lost").unwrap(), 0);
}

/// What bulk TCP brings is not copied to the tap: the record of a download is its connection and its request.
pub(crate) async fn ordinary_traffic_is_not_mistaken_for_packets(guest: Guest) {
    guest.control().ask("reset").unwrap();
    let answer = get("example.com", "/bytes/3000000?nonce=bulk").await;
    assert_eq!(answer.body.len(), 3_000_000);
    let all = guest.control().arrivals().unwrap();
    let kinds: Vec<Kind> = all.iter().filter(|one| one.local_port == Some(80)).map(|one| one.proto).collect();
    // The tap and the server write each in its own time.
    assert!(kinds == [Kind::TcpSyn, Kind::Http] || kinds == [Kind::Http, Kind::TcpSyn], "{kinds:?}");
}

pub(crate) async fn a_reset_record_is_empty_and_a_settled_one_complete(guest: Guest) {
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    for turn in 0..300 {
        socket.send_to(format!("N0NCE-many{turn}").as_bytes(), (WITNESS_V4, 40_000 + turn)).await.unwrap();
    }
    assert_eq!(guest.arrivals("N0NCE-many").iter().filter(|one| one.proto == Kind::Udp).count(), 300);
    guest.control().ask("reset").unwrap();
    assert_eq!(guest.arrivals("N0NCE-many"), []);
}
