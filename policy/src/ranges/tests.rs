use super::*;

fn of(text: &str) -> Standing {
    standing(text.parse().unwrap())
}

#[test]
fn the_tables_hold_blocks_without_stray_bits() {
    let embedded = EMBEDDED.iter().map(|embedding| embedding.block);
    for block in NEVER.iter().chain(PRIVATE).map(|(block, _)| *block).chain(embedded) {
        let text = format!("{}/{}", block.address(), block.length());
        assert_eq!(Cidr::parse(&text), Ok(block), "{text}");
    }
}

/// G9: metadata, loopback, link-local, multicast and own addresses are never dialled, in any form.
#[test]
fn never() {
    for text in [
        "0.0.0.0",
        "0.255.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "198.18.0.0",
        "198.19.255.255",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "febf::1",
        "ff02::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fd00:5a::1",
        "fd00:5a:0:0:ffff:ffff:ffff:ffff",
    ] {
        assert!(matches!(of(text), Standing::Never(_)), "{text}");
    }
}

#[test]
fn never_in_disguise() {
    for text in [
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0.0.0.0",
        "::127.0.0.1",
        "::169.254.169.254",
        "::ffff:0:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b:1::127.0.0.1",
        "64:ff9b:1:a9fe:a9:fe00::",
        "2002:7f00:1::1",
        "2002:a9fe:a9fe::",
        "2001:0:7f00:1::1",
        "2001:0:4136:e378:8000:63bf:8000:fffe",
        "2001:0:4136:e378:8000:63bf:5601:5601",
    ] {
        assert!(matches!(of(text), Standing::Never(_)), "{text}");
    }
}

#[test]
fn private() {
    for text in [
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "192.0.0.9",
        "fc00::1",
        "fdff::1",
        "fec0::1",
        "::ffff:10.0.0.1",
        "::10.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::192.0.2.1",
        "2002:a00:1::1",
    ] {
        assert!(matches!(of(text), Standing::Private(_)), "{text}");
    }
}

#[test]
fn ordinary_up_to_the_edges() {
    for text in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "168.63.129.15",
        "2606:4700::1",
        "64:ff9b::192.0.2.1",
        "2002:c000:201::1",
        "fbff::1",
        "2001:1::1",
        "fe00::1",
        "::ffff:192.0.2.1",
    ] {
        assert_eq!(of(text), Standing::Ordinary, "{text}");
    }
}

/// Documentation ranges stand for the Internet in the lab, and are nobody's otherwise.
#[test]
fn documentation_ranges_are_ordinary() {
    for text in ["192.0.2.53", "198.51.100.7", "203.0.113.7", "2001:db8::7"] {
        assert_eq!(of(text), Standing::Ordinary, "{text}");
    }
}
