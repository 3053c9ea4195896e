//! What the rules of a sealed namespace do to packets, each claim with the control that shows it is the rule
//! which does it.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    time::Duration,
};

use crate::world::{Neighbour, namespaced, succeeds};
use closedbook_kernel::{
    lo::{self, TASK_V4, TASK_V6},
    nft::{Counters, Ruleset, SealedPorts, apply, sealed, verify},
};
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};

const FAR: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];
const OWN: [IpAddr; 4] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V4(TASK_V4),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
    IpAddr::V6(TASK_V6),
];
const PROXY: u16 = 12345;
const DNS: u16 = 15053;

/// A namespace laid out and guarded by `ruleset`.
fn guarded_by(ruleset: &Ruleset) {
    lo::seal().unwrap();
    apply(ruleset).unwrap();
    verify(ruleset).unwrap();
}

fn rules() -> Ruleset {
    sealed(&SealedPorts::default())
}

/// The rules but for some: the control of a claim about these.
fn rules_without(comments: &[&str]) -> Ruleset {
    let mut ruleset = rules();
    let all: usize = ruleset.chains.iter().map(|chain| chain.rules.len()).sum();
    for chain in &mut ruleset.chains {
        chain.rules.retain(|rule| !comments.contains(&rule.comment.as_str()));
    }
    let left: usize = ruleset.chains.iter().map(|chain| chain.rules.len()).sum();
    assert_eq!(left + comments.len(), all, "no such rules: {comments:?}");
    ruleset
}

fn packets(counters: &Counters, rule: &str) -> u64 {
    counters.of(rule).unwrap().packets
}

fn localhost(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() }
}

fn wildcard(like: IpAddr) -> IpAddr {
    if like.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

fn listen(address: IpAddr, port: u16) -> TcpListener {
    TcpListener::bind((localhost(address), port)).unwrap()
}

/// Where the client of a redirected connection wanted to go.
fn original(stream: &TcpStream) -> SocketAddr {
    let found = match stream.local_addr().unwrap() {
        SocketAddr::V4(_) => SockRef::from(stream).original_dst_v4(),
        SocketAddr::V6(_) => SockRef::from(stream).original_dst_v6(),
    };
    found.unwrap().as_socket().unwrap()
}

fn refused(destination: (IpAddr, u16)) {
    let error = TcpStream::connect(destination).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "{destination:?}: {error}");
}

/// Sends one datagram; the error is the one `send` gives, or the one ICMP brings.
fn datagram(destination: (IpAddr, u16), payload: &[u8]) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((wildcard(destination.0), 0))?;
    socket.connect(destination)?;
    socket.send(payload)?;
    match socket.take_error()? {
        Some(error) => Err(error),
        None => Ok(socket),
    }
}

/// Sends a packet on a raw or ping socket.
fn packet(kind: Type, protocol: i32, destination: IpAddr, payload: &[u8]) -> io::Result<()> {
    let socket = Socket::new(domain(destination), kind, Some(Protocol::from(protocol)))?;
    socket.send_to(payload, &SocketAddr::new(destination, 0).into())?;
    Ok(())
}

fn domain(address: IpAddr) -> Domain {
    if address.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 }
}

namespaced! {
    /// G3, G9: every TCP connection to elsewhere is the proxy's, which learns where it was meant to go.
    fn tcp_reaches_the_proxy() {
        guarded_by(&rules());
        for address in FAR {
            let proxy = listen(address, PROXY);
            for port in [1, 80, 443, 853, 8443, PROXY, DNS, 65535] {
                let client = TcpStream::connect((address, port)).unwrap();
                let (served, from) = proxy.accept().unwrap();
                assert_eq!(original(&served), SocketAddr::new(address, port));
                assert_eq!(from, client.local_addr().unwrap());
                assert_eq!(client.peer_addr().unwrap(), SocketAddr::new(address, port));
            }
            apply(&rules_without(&["tcp"])).unwrap();
            refused((address, 443));
            apply(&rules()).unwrap();
        }
    }

    /// G9: the other way to make a TCP connection.
    fn multipath_tcp_reaches_the_proxy() {
        guarded_by(&rules());
        for address in FAR {
            let proxy = listen(address, PROXY);
            let client = Socket::new(domain(address), Type::STREAM, Some(Protocol::MPTCP)).unwrap();
            client.connect(&SocketAddr::new(address, 443).into()).unwrap();
            let (served, _) = proxy.accept().unwrap();
            assert_eq!(original(&served), SocketAddr::new(address, 443));
        }
    }

    /// G12: a redirected connection carries megabytes both ways; no segment of it is taken for a stray one.
    fn redirected_connections_carry_data() {
        const SIZE: usize = 32 << 20;
        guarded_by(&rules());
        for address in FAR {
            let proxy = listen(address, PROXY);
            let echo = std::thread::spawn(move || {
                let (mut served, _) = proxy.accept().unwrap();
                let mut back = served.try_clone().unwrap();
                io::copy(&mut served, &mut back).unwrap();
            });
            let mut client = TcpStream::connect((address, 443)).unwrap();
            let mut writer = client.try_clone().unwrap();
            let sender = std::thread::spawn(move || {
                writer.write_all(&vec![7; SIZE]).unwrap();
                writer.shutdown(std::net::Shutdown::Write).unwrap();
            });
            assert_eq!(io::copy(&mut client, &mut io::sink()).unwrap(), SIZE as u64);
            sender.join().unwrap();
            echo.join().unwrap();
        }
        let counters = verify(&rules()).unwrap();
        assert_eq!(packets(&counters, "invalid"), 0);
        assert_eq!(packets(&counters, "refused-tcp"), 0);
    }

    /// G9: a question to any address is answered here, and the answer comes from the address asked.
    fn dns_over_udp_is_answered_for_any_address() {
        guarded_by(&rules());
        let resolvers: [IpAddr; 4] = [
            Ipv4Addr::new(127, 0, 0, 53).into(),
            Ipv4Addr::new(127, 0, 0, 11).into(),
            Ipv4Addr::new(8, 8, 8, 8).into(),
            Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x53).into(),
        ];
        for asked in FAR.into_iter().chain(OWN).chain(resolvers) {
            let server = UdpSocket::bind((localhost(asked), DNS)).unwrap();
            let client = UdpSocket::bind((wildcard(asked), 0)).unwrap();
            client.send_to(b"question", (asked, 53)).unwrap();
            let mut buffer = [0; 16];
            let (length, from) = server.recv_from(&mut buffer).unwrap();
            assert_eq!(&buffer[..length], b"question");
            server.send_to(b"answer", from).unwrap();
            let (length, from) = client.recv_from(&mut buffer).unwrap();
            assert_eq!((&buffer[..length], from), (b"answer".as_slice(), SocketAddr::new(asked, 53)));
        }
        apply(&rules_without(&["dns-udp"])).unwrap();
        assert!(datagram((FAR[0], 53), b"question").is_err());
    }

    /// G9: the same over TCP.
    fn dns_over_tcp_is_answered_for_any_address() {
        guarded_by(&rules());
        for asked in FAR.into_iter().chain(OWN).chain([Ipv4Addr::new(127, 0, 0, 53).into()]) {
            let server = listen(asked, DNS);
            let client = TcpStream::connect((asked, 53)).unwrap();
            let (served, from) = server.accept().unwrap();
            assert_eq!(from, client.local_addr().unwrap());
            assert_eq!(original(&served), SocketAddr::new(asked, 53));
        }
        apply(&rules_without(&["dns-tcp"])).unwrap();
        refused((FAR[0], 53));
        refused((OWN[0], 53));
    }

    /// G9: the listeners are reached by redirection or not at all.
    fn listeners_refuse_direct_connections() {
        guarded_by(&rules());
        for address in OWN {
            let listener = TcpListener::bind((wildcard(address), PROXY)).unwrap();
            refused((address, PROXY));
            apply(&rules_without(&["direct-proxy", "forged-proxy"])).unwrap();
            TcpStream::connect((address, PROXY)).unwrap();
            drop(listener);
            apply(&rules()).unwrap();

            let listener = TcpListener::bind((wildcard(address), DNS)).unwrap();
            refused((address, DNS));
            apply(&rules_without(&["direct-dns-tcp", "forged-dns-tcp"])).unwrap();
            TcpStream::connect((address, DNS)).unwrap();
            drop(listener);
            apply(&rules()).unwrap();

            let server = UdpSocket::bind((wildcard(address), DNS)).unwrap();
            assert!(datagram((address, DNS), b"direct").is_err());
            server.set_nonblocking(true).unwrap();
            assert_eq!(server.recv(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
            apply(&rules_without(&["direct-dns-udp", "forged-dns-udp"])).unwrap();
            datagram((address, DNS), b"direct").unwrap();
            assert_eq!(server.recv(&mut [0; 16]).unwrap(), 6);
            apply(&rules()).unwrap();
        }
    }

    /// G9: an earlier redirected question doesn't open the way for a direct one from the same port.
    fn a_redirected_flow_opens_no_direct_way() {
        guarded_by(&rules());
        for (far, own) in [(FAR[0], OWN[0]), (FAR[1], OWN[2])] {
            let server = UdpSocket::bind((own, DNS)).unwrap();
            let client = UdpSocket::bind((wildcard(far), 0)).unwrap();
            client.send_to(b"asked", (far, 53)).unwrap();
            server.recv(&mut [0; 16]).unwrap();
            let error = client.send_to(b"direct", (own, DNS)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        }
    }

    /// G9: frames written to `lo` by a packet socket pass no output hook; the listeners don't get them.
    fn forged_frames_do_not_reach_the_listeners() {
        guarded_by(&rules());
        let server = UdpSocket::bind((Ipv6Addr::LOCALHOST, DNS)).unwrap();
        server.set_nonblocking(true).unwrap();
        let forged = udp_packet(TASK_V6, Ipv6Addr::LOCALHOST, DNS);
        inject(&forged);
        while packets(&verify(&rules()).unwrap(), "forged-dns-udp") == 0 {
            std::thread::yield_now();
        }
        assert_eq!(server.recv(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);

        apply(&rules_without(&["forged-dns-udp"])).unwrap();
        inject(&forged);
        server.set_nonblocking(false).unwrap();
        assert_eq!(server.recv(&mut [0; 16]).unwrap(), 6);
    }

    /// G12: the task's processes speak to each other as they like.
    fn own_servers_are_reached_without_the_proxy() {
        guarded_by(&rules());
        for address in OWN {
            let server = TcpListener::bind((address, 8080)).unwrap();
            TcpStream::connect((address, 8080)).unwrap();
            let (_, from) = server.accept().unwrap();
            assert_eq!(from.ip(), address);
            let server = UdpSocket::bind((address, 9090)).unwrap();
            datagram((address, 9090), b"hello").unwrap();
            assert_eq!(server.recv(&mut [0; 16]).unwrap(), 5);
        }
        let _server = TcpListener::bind((OWN[0], 8081)).unwrap();
        apply(&rules_without(&["own"])).unwrap();
        refused((OWN[0], 8081));
        let _server = UdpSocket::bind((OWN[0], 9091)).unwrap();
        apply(&rules_without(&["local"])).unwrap();
        assert!(datagram((OWN[0], 9091), b"hello").is_err());
    }

    /// G6: with nobody listening there is nothing, at once.
    fn without_listeners_connections_are_refused() {
        guarded_by(&rules());
        for address in FAR {
            refused((address, 443));
            refused((address, 53));
            assert!(datagram((address, 53), b"question").and_then(|socket| socket.recv(&mut [0; 16])).is_err());
        }
    }

    /// G9, G11: QUIC and every other datagram is refused when it is sent, and ICMP says why.
    fn other_datagrams_are_refused_at_once() {
        guarded_by(&rules());
        let broadcast = [Ipv4Addr::BROADCAST.into(), Ipv4Addr::new(224, 0, 0, 251).into()];
        for address in FAR.into_iter().chain(broadcast) {
            for port in [1, 123, 443, 784, 853, 5353, 65535] {
                let socket = UdpSocket::bind((wildcard(address), 0)).unwrap();
                socket.set_broadcast(true).unwrap();
                let error = socket.send_to(b"datagram", (address, port)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{address} {port}: {error}");
            }
        }
        assert!(packets(&verify(&rules()).unwrap(), "refused-other") > 0);
    }

    /// G11: beside the error of `send`, ICMPv6 says "administratively prohibited". (For IPv4 the kernel makes no
    /// ICMP error about a packet routed to `lo`: it would have to come from the address asked, which isn't ours.)
    fn refused_datagrams_are_answered_by_icmp() {
        guarded_by(&rules());
        let socket = UdpSocket::bind((wildcard(FAR[1]), 0)).unwrap();
        socket.connect((FAR[1], 443)).unwrap();
        socket.send(b"datagram").unwrap_err();
        assert_eq!(socket.take_error().unwrap().unwrap().raw_os_error(), Some(libc::EACCES));
    }

    /// G9: echo requests, by the socket type that needs no privilege.
    fn ping_is_refused() {
        guarded_by(&rules());
        // Type, code, checksum (the kernel's), identifier (the kernel's), sequence.
        let echo = |kind| [kind, 0, 0, 0, 0, 0, 0, 1];
        let ping = |address: IpAddr| match address {
            IpAddr::V4(_) => packet(Type::DGRAM, libc::IPPROTO_ICMP, address, &echo(8)),
            IpAddr::V6(_) => packet(Type::DGRAM, libc::IPPROTO_ICMPV6, address, &echo(128)),
        };
        // The kernel keeps the refusal of an ICMPv6 echo request to itself; the counter has it.
        for (count, address) in (1..).zip(FAR) {
            let _refused = ping(address);
            assert_eq!(packets(&verify(&rules()).unwrap(), "refused-other"), count);
        }
        for address in OWN {
            ping(address).unwrap();
        }
        assert_eq!(packets(&verify(&rules()).unwrap(), "refused-other"), 2);
    }

    /// G9: every other protocol there is, sent by root, in IPv4 and IPv6.
    fn other_protocols_are_refused() {
        guarded_by(&rules());
        for address in FAR {
            for protocol in 1..255 {
                let Err(error) = packet(Type::RAW, protocol, address, &[0; 40]) else {
                    panic!("protocol {protocol} to {address} was sent");
                };
                assert_eq!(error.raw_os_error(), Some(libc::EPERM), "protocol {protocol} to {address}: {error}");
            }
        }
    }

    /// G12: a segment conntrack can't place is dropped, not answered by a RST that would kill its flow.
    fn stray_segments_are_dropped_unanswered() {
        guarded_by(&rules());
        let [tcp, reset] = ["invalid", "refused-tcp"];
        for (count, address) in (1..).zip(FAR) {
            packet(Type::RAW, libc::IPPROTO_TCP, address, &syn_and_fin()).unwrap_err();
            let counters = verify(&rules()).unwrap();
            assert_eq!((packets(&counters, tcp), packets(&counters, reset)), (count, 0));
        }
        apply(&rules_without(&["invalid"])).unwrap();
        packet(Type::RAW, libc::IPPROTO_TCP, FAR[0], &syn_and_fin()).unwrap_err();
        assert_eq!(packets(&verify(&rules_without(&["invalid"])).unwrap(), reset), 1);
    }

    /// G13: every refused packet is counted; of a flood the first are recorded, and the rest is a difference.
    fn a_flood_is_counted_and_not_recorded() {
        guarded_by(&rules());
        for _ in 0..1000 {
            datagram((FAR[0], 443), b"datagram").unwrap_err();
        }
        let counters = verify(&rules()).unwrap();
        assert_eq!(packets(&counters, "foreign"), 1000);
        assert_eq!(packets(&counters, "refused-other"), 1000);
        let logged = packets(&counters, "logged");
        assert!((20..1000).contains(&logged), "{logged}");
    }

    /// G2: should there be a device one day, a socket bound to it doesn't get out by it.
    fn a_socket_bound_to_a_device_stays_inside() {
        let neighbour = Neighbour::new();
        let attempt = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket.bind_device(Some(b"uplink")).unwrap();
            socket.connect(&SocketAddr::new(neighbour.address(), 443).into())
        };
        guarded_by(&rules_without(&["leak"]));
        assert_eq!(neighbour.packets_received(), 0);
        // The policy of the chain is the second lock.
        let mut open = rules_without(&["leak", "lo-out"]);
        open.chains.retain(|chain| chain.name.as_str() != "guard_out");
        apply(&open).unwrap();
        let _in_progress = attempt();
        neighbour.wait_for_packets();

        guarded_by(&rules());
        let before = neighbour.packets_received();
        attempt().unwrap_err();
        assert!(packets(&verify(&rules()).unwrap(), "leak") > 0);
        assert_eq!(neighbour.packets_received(), before);
    }

    /// G2: nor does anything come in by it.
    fn a_neighbour_is_not_heard() {
        let neighbour = Neighbour::new();
        guarded_by(&rules_without(&["intrusion"]));
        let mut open = rules();
        open.chains.retain(|chain| chain.name.as_str() != "guard_in");
        apply(&open).unwrap();
        let server = UdpSocket::bind((neighbour.uplink(), 9999)).unwrap();
        server.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        neighbour.send_datagram(9999);
        assert!(server.recv(&mut [0; 16]).unwrap() > 0);

        guarded_by(&rules());
        neighbour.send_datagram(9999);
        while packets(&verify(&rules()).unwrap(), "intrusion") == 0 {
            std::thread::yield_now();
        }
        server.set_nonblocking(true).unwrap();
        assert_eq!(server.recv(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }

    /// G2: with every rule gone there is still no way out, and with no route there is not even a way to `lo`.
    fn without_rules_nothing_answers() {
        guarded_by(&rules());
        succeeds("nft", &["flush", "ruleset"], "");
        for address in FAR {
            let socket = UdpSocket::bind((wildcard(address), 0)).unwrap();
            let _looped = socket.send_to(b"datagram", (address, 443));
        }
        lo::assert_only_loopback().unwrap();
        let mut read = String::new();
        std::fs::File::open("/proc/thread-self/net/dev").unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read.lines().skip(2).count(), 1, "{read}");
    }
}

/// An IPv6 packet with a UDP datagram of six bytes.
fn udp_packet(from: Ipv6Addr, to: Ipv6Addr, port: u16) -> Vec<u8> {
    const UDP: u8 = 17;
    let length = 8 + 6_u16;
    let mut datagram = [[0x15, 0xb3], port.to_be_bytes(), length.to_be_bytes(), [0, 0]].concat();
    datagram.extend(b"forged");
    // RFC 8200 section 8.1: addresses, length and protocol are summed with the datagram.
    let pseudo =
        [&from.octets()[..], &to.octets(), &u32::from(length).to_be_bytes(), &[0, 0, 0, UDP]].concat();
    let words = pseudo.chunks(2).chain(datagram.chunks(2));
    let sum: u32 = words.map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !(((folded & 0xffff) + (folded >> 16)) as u16);
    datagram[6..8].copy_from_slice(&checksum.to_be_bytes());

    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([UDP, 64]);
    packet.extend(from.octets());
    packet.extend(to.octets());
    packet.extend(datagram);
    packet
}

/// Writes an IPv6 packet to `lo`, as a frame.
fn inject(packet: &[u8]) {
    let socket = Socket::new(Domain::PACKET, Type::DGRAM, None).unwrap();
    // SAFETY: the storage is large enough for and aligned as any address; all of `sockaddr_ll` is written, and
    // its length given.
    let ((), address) = unsafe {
        SockAddr::try_init(|storage, length| {
            storage.cast::<libc::sockaddr_ll>().write(libc::sockaddr_ll {
                sll_family: libc::AF_PACKET as u16,
                sll_protocol: (libc::ETH_P_IPV6 as u16).to_be(),
                sll_ifindex: 1,
                sll_hatype: 0,
                sll_pkttype: 0,
                sll_halen: 6,
                sll_addr: [0; 8],
            });
            *length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            Ok(())
        })
    }
    .unwrap();
    socket.send_to(packet, &address).unwrap();
}

/// A TCP header no stack would send: ports 1 and 443, sequence 1, SYN and FIN.
fn syn_and_fin() -> [u8; 20] {
    let mut header = [0; 20];
    header[1] = 1;
    header[2..4].copy_from_slice(&443_u16.to_be_bytes());
    header[7] = 1;
    header[12] = 5 << 4;
    header[13] = 0b11;
    header
}
