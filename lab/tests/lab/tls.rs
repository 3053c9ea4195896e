use closedbook_lab::{Kind, NAMELESS, World};
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{ask, https, tcp, timed, tls, tls_config, v4};
use crate::harness::Guest;

pub(crate) async fn every_name_has_a_certificate_of_the_labs_authority(guest: Guest) {
    for host in World::new().hosts() {
        https(&guest.ca(), host.name.as_str()).await;
    }
    https(&guest.ca(), "any.name.that.leaks.leak.test").await;
    // A name that the world doesn't have: who asks for it at some address gets a certificate all the same.
    https(&guest.ca(), "unheard-of.example.net").await;
    guest.fault("example.org", "wrong-name");
    let refused = tls(tls_config(&guest.ca(), rustls::ALL_VERSIONS, &[]), "example.org", 443).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("not valid for name")));
    for (fault, said) in [("expired", "expired"), ("not-yet", "not valid yet")] {
        guest.fault("example.org", fault);
        let refused = tls(tls_config(&guest.ca(), rustls::ALL_VERSIONS, &[]), "example.org", 443).await;
        assert!(refused.is_err_and(|error| error.to_string().contains(said)), "{fault}");
    }
}

pub(crate) async fn both_versions_and_both_protocols_are_spoken(guest: Guest) {
    for version in [&TLS12, &TLS13] {
        for (offered, chosen) in
            [(&["h2", "http/1.1"][..], Some(&b"h2"[..])), (&["http/1.1"], Some(b"http/1.1")), (&[], None)]
        {
            let config = tls_config(&guest.ca(), &[version], offered);
            let stream = tls(config, "api.anthropic.com", 443).await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), chosen);
            assert_eq!(stream.get_ref().1.protocol_version(), Some(version.version));
        }
    }
    let config = tls_config(&guest.ca(), rustls::ALL_VERSIONS, &["h2"]);
    assert_eq!(tls(config, "pypi.org", 8443).await.unwrap().get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
}

pub(crate) async fn without_a_name_the_certificate_says_so(guest: Guest) {
    let mut config = tls_config(&guest.ca(), rustls::ALL_VERSIONS, &[]);
    config.enable_sni = false;
    let mut stream = tls(config.clone(), NAMELESS, 443).await.unwrap();
    let report = ask(&mut stream, "GET / HTTP/1.1\r\nhost: pypi.org\r\n\r\n").await;
    assert_eq!((report.header("x-lab-sni"), report.header("x-lab-host")), (Some("-"), Some("pypi.org")));
    assert!(tls(config, "pypi.org", 443).await.is_err(), "no certificate for a name that was not asked for");
}

pub(crate) async fn a_failed_handshake_is_an_arrival(guest: Guest) {
    // A message that claims to be a hello.
    let mut stream = tcp((v4("api.x.ai"), 443)).await;
    stream.write_all(b"\x16\x03\x01\x00\x14\x01\x00\x00\x10N0NCE-hello12345").await.unwrap();
    let mut rest = Vec::new();
    timed(stream.read_to_end(&mut rest)).await.unwrap();
    assert_eq!(rest.first(), Some(&0x15), "an alert");
    let seen = guest.arrivals("N0NCE-hello12345");
    assert!(seen.iter().any(|one| one.proto == Kind::Tls && one.detail.as_ref().unwrap().contains("failed")));
    // And one that succeeds, with nothing said in it.
    https(&guest.ca(), "n0nce-quiet.leak.test").await.shutdown().await.unwrap();
    guest.awaited(|one| one.proto == Kind::Tls && one.name.as_deref() == Some("n0nce-quiet.leak.test")).await;
}
