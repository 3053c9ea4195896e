use super::*;

/// 198.51.100.9 -> 203.0.113.200, a header without options.
fn v4_header(protocol: u8, length: usize, fragment: u16) -> Vec<u8> {
    let mut bytes = vec![0x45, 0];
    bytes.extend(u16::try_from(20 + length).unwrap().to_be_bytes());
    bytes.extend([0, 1]);
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0, 198, 51, 100, 9, 203, 0, 113, 200]);
    bytes
}

fn v6_header(next: u8) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0, 0, 0, next, 64];
    bytes.extend(Ipv6Addr::LOCALHOST.octets());
    bytes.extend("2001:db8::53".parse::<Ipv6Addr>().unwrap().octets());
    bytes
}

fn udp_bytes() -> Vec<u8> {
    [&[0x30, 0x39, 0x01, 0xbb, 0, 12, 0, 0][..], b"data"].concat()
}

#[test]
fn a_udp_datagram_is_read_and_padding_is_not() {
    let mut bytes = [v4_header(17, 12, 0), udp_bytes()].concat();
    bytes.extend([0; 7]);
    let packet = Packet::parse(&bytes).unwrap();
    assert_eq!(packet.destination, "203.0.113.200".parse::<IpAddr>().unwrap());
    assert_eq!(packet.layer, Layer::Udp { source: 12345, destination: 443, payload: b"data" });
}

#[test]
fn a_segment_is_read_behind_its_options() {
    let mut segment = vec![0, 80, 0, 81, 0, 0, 0, 0, 0, 0, 0, 0, 0x60, 0x03, 0, 0, 0, 0, 0, 0];
    segment.extend([1, 1, 1, 0]);
    segment.extend(b"syn+fin");
    let bytes = [v4_header(6, segment.len(), 0), segment].concat();
    let layer = Packet::parse(&bytes).unwrap().layer;
    assert_eq!(layer, Layer::Tcp { source: 80, destination: 81, flags: 3, payload: b"syn+fin" });
}

#[test]
fn a_fragment_is_never_read_as_a_datagram() {
    for fragment in [0x2000, 0x0001, 0x1fff] {
        let bytes = [v4_header(17, 12, fragment), udp_bytes()].concat();
        assert_eq!(Packet::parse(&bytes).unwrap().layer, Layer::Other(&udp_bytes()), "{fragment:#x}");
    }
    let bytes = [v6_header(44), vec![17, 0, 0, 1, 0, 0, 0, 1], udp_bytes()].concat();
    assert_eq!(Packet::parse(&bytes).unwrap().layer, Layer::Other(&udp_bytes()));
}

#[test]
fn extension_headers_do_not_hide_what_follows() {
    let bytes =
        [v6_header(0), vec![60, 0, 1, 4, 0, 0, 0, 0], vec![17, 0, 1, 4, 0, 0, 0, 0], udp_bytes()].concat();
    let packet = Packet::parse(&bytes).unwrap();
    assert_eq!(packet.protocol, 17);
    assert_eq!(packet.layer, Layer::Udp { source: 12345, destination: 443, payload: b"data" });
}

/// G16: no bytes panic, however they are cut.
#[test]
fn every_prefix_of_every_shape_is_survived() {
    let shapes = [
        [v4_header(17, 12, 0), udp_bytes()].concat(),
        [v4_header(6, 20, 0), vec![0xff; 20]].concat(),
        [v6_header(0), vec![0, 255], vec![0; 80]].concat(),
        [v6_header(44), vec![6, 0, 0, 0, 0, 0, 0, 1], vec![0xff; 20]].concat(),
        vec![0x4f; 64],
        vec![0xff; 64],
    ];
    for bytes in shapes {
        for end in 0..=bytes.len() {
            let _ = Packet::parse(&bytes[..end]);
        }
    }
}
