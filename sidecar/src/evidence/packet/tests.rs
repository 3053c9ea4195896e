use std::net::Ipv6Addr;

use proptest::prelude::*;

use super::*;

/// A message as the kernel writes it.
fn message(number: u32, packet: &[u8]) -> Vec<u8> {
    let mut attributes = Vec::new();
    let mut add = |kind: u16, value: &[u8]| {
        attributes.extend((4 + value.len() as u16).to_ne_bytes());
        attributes.extend(kind.to_ne_bytes());
        attributes.extend(value);
        attributes.resize(attributes.len().next_multiple_of(4), 0);
    };
    add(1, &[8, 0, 3, 0]);
    if number != 0 {
        add(2, &number.to_be_bytes());
    }
    add(9, packet);
    let mut message = (20 + attributes.len() as u32).to_ne_bytes().to_vec();
    message.extend(0x0400_u16.to_ne_bytes());
    message.extend([0; 10]);
    message.extend([2, 0, 0, 77]);
    message.extend(attributes);
    message
}

fn v4(protocol: u8, fragment: u16, rest: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 0, 0, 0];
    packet.extend(fragment.to_be_bytes());
    packet.extend([64, protocol, 0, 0, 10, 200, 0, 1, 192, 0, 2, 1]);
    packet.extend(rest);
    packet
}

fn v6(next: u8, rest: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0, 0, 0, next, 64];
    for address in ["fd00:5a::1", "2001:db8::7"] {
        packet.extend(address.parse::<Ipv6Addr>().unwrap().octets());
    }
    packet.extend(rest);
    packet
}

const NTP: [u8; 8] = [0x30, 0x39, 0, 123, 0, 8, 0, 0];

fn text(packet: &[u8]) -> String {
    Packet::parse(packet).to_string()
}

/// G13: what was refused can be told: protocol, address, port.
#[test]
fn packets_are_described() {
    for (packet, expected) in [
        (v4(17, 0, &NTP), "udp to 192.0.2.1:123"),
        (v4(6, 0, &[0, 1, 0, 80, 0, 0]), "tcp to 192.0.2.1:80"),
        (v4(1, 0, &[8, 0]), "icmp echo request to 192.0.2.1"),
        (v4(1, 0, &[13, 0]), "icmp type 13 to 192.0.2.1"),
        (v4(132, 0, &[]), "sctp to 192.0.2.1"),
        (v4(253, 0, &[]), "protocol 253 to 192.0.2.1"),
        // Don't-fragment and more-fragments are flags, not an offset.
        (v4(17, 0x6000, &NTP), "udp to 192.0.2.1:123"),
        (v4(17, 0x2001, &NTP), "a fragment of udp to 192.0.2.1"),
        (v4(17, 0, &NTP[..3]), "part of udp to 192.0.2.1"),
        (v6(17, &NTP), "udp to [2001:db8::7]:123"),
        (v6(58, &[128, 0]), "icmp echo request to 2001:db8::7"),
        (v6(58, &[135, 0]), "icmpv6 type 135 to 2001:db8::7"),
        (v6(59, &[]), "protocol 59 to 2001:db8::7"),
        (vec![0x45; 10], "a packet that can't be read"),
        (vec![0x50; 60], "a packet that can't be read"),
        (vec![], "a packet that can't be read"),
    ] {
        assert_eq!(text(&packet), expected, "{packet:x?}");
    }
    let packet = Packet::parse(&v4(17, 0, &NTP));
    assert_eq!(packet.destination().unwrap().to_string(), "192.0.2.1:123");
    assert_eq!(packet.source().unwrap().to_string(), "10.200.0.1:12345");
    let ping = Packet::parse(&v4(1, 0, &[8, 0]));
    assert_eq!((ping.port(), ping.source()), (None, None));
    assert_eq!(ping.destination().unwrap().to_string(), "192.0.2.1:0");
}

/// What is behind extension headers is found; a header that was cut off is not taken for what is behind it.
#[test]
fn extension_headers() {
    let options = [60, 0, 1, 4, 0, 0, 0, 0];
    let longer = [17, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let packet = [&options[..], &longer, &NTP].concat();
    assert_eq!(text(&v6(0, &packet)), "udp to [2001:db8::7]:123");
    assert_eq!(text(&v6(0, &packet[..20])), "part of protocol 60 to 2001:db8::7");
    let authentication = [17, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(text(&v6(51, &[&authentication[..], &NTP].concat())), "udp to [2001:db8::7]:123");
    let fragment = |offset: u16| [17, 0, (offset >> 5) as u8, (offset << 3) as u8, 0, 0, 0, 1];
    assert_eq!(text(&v6(44, &[&fragment(0)[..], &NTP].concat())), "udp to [2001:db8::7]:123");
    assert_eq!(text(&v6(44, &[&fragment(185)[..], &NTP].concat())), "a fragment of udp to 2001:db8::7");
}

#[test]
fn copies_of_one_datagram() {
    let mut datagram = message(0, &v4(17, 0, &NTP));
    datagram.extend(message(41, &v6(17, &NTP[..5])));
    // The end of a dump, which is no packet.
    datagram.extend(20_u32.to_ne_bytes());
    datagram.extend(3_u16.to_ne_bytes());
    datagram.extend([0; 14]);
    datagram.extend(message(u32::MAX - 1, &[]));
    let found: Vec<_> = copies(&datagram).map(|copy| (copy.number, copy.packet.to_string())).collect();
    let expected = [
        (0, "udp to 192.0.2.1:123"),
        (41, "udp to [2001:db8::7]:123"),
        (u32::MAX - 1, "a packet that can't be read"),
    ];
    assert_eq!(found, expected.map(|(number, text)| (number, text.to_owned())));
}

/// G16: no prefix of a message is taken for a whole one, and a length that says less than a header ends the list.
#[test]
fn cut_messages_end_the_list() {
    let datagram = message(7, &v4(17, 0, &NTP));
    for end in 0..datagram.len() {
        assert_eq!(copies(&datagram[..end]).count(), 0, "{end} octets");
    }
    for length in 0..16_u32 {
        let mut datagram = datagram.clone();
        datagram[..4].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(copies(&datagram).count(), 0, "a length of {length}");
    }
}

proptest! {
    /// G16: whatever a packet holds and wherever it is cut, its frame is read, and its copy is told of once.
    #[test]
    fn every_packet_is_told_of(number: u32, packet in proptest::collection::vec(any::<u8>(), 0..200)) {
        let datagram = message(number, &packet);
        let found: Vec<_> = copies(&datagram).collect();
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0], Copy { number, packet: Packet::parse(&packet) });
    }

    #[test]
    fn all_bytes_are_harmless(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        crate::fuzzing::packet_log(&bytes);
    }
}
