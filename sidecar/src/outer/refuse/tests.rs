use closedbook_policy::{Reason, Refusal};
use tokio::net::{TcpListener, TcpStream};

use super::{Tongue, alert, record, refuse};
use crate::outer::socket::Socket;
use crate::outer::testing::drain;
use crate::outer::testing::hello::hello;

async fn refused(prefix: &[u8], reason: Reason) -> (Vec<u8>, bool) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (client, near) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    let (mut client, near) = (client.unwrap(), Socket::new(near.unwrap().0).unwrap());
    let refusal = Refusal::new(reason, "why");
    let (said, ()) = tokio::join!(drain(&mut client), refuse(near, prefix, &refusal));
    said
}

/// G11: a TLS client gets the alert that fits, in its version of the record layer.
#[tokio::test]
async fn alerts() {
    let hello = hello(None);
    for (reason, description) in [
        (Reason::NameNotAllowed, 49),
        (Reason::PortNotAllowed, 49),
        (Reason::PrivateAddress, 49),
        (Reason::EchRefused, 49),
        (Reason::MalformedHello, 50),
        (Reason::HelloTooLarge, 50),
        (Reason::NoServerName, 109),
    ] {
        assert_eq!(refused(&hello, reason).await, (record([3, 1], description).to_vec(), false), "{reason}");
    }
    assert_eq!(record([3, 3], 49), [21, 3, 3, 0, 2, 2, 49]);
}

/// G11: what is no verdict of the policy looks like a fault of the network, so that clients try again.
#[tokio::test]
async fn resets() {
    for reason in [Reason::DialFailed, Reason::ResolveFailed, Reason::Limit] {
        assert_eq!(refused(&hello(None), reason).await, (Vec::new(), true), "{reason}");
    }
    for prefix in [&b""[..], b"SSH-2.0-x\r\n", &[0, 1, 2]] {
        assert_eq!(refused(prefix, Reason::NotTlsOrHttp).await, (Vec::new(), true));
    }
}

/// Every reason has an alert or is left without one on purpose.
#[test]
fn reasons_without_an_alert() {
    let silent: Vec<_> = Reason::ALL.iter().copied().filter(|reason| alert(*reason).is_none()).collect();
    assert_eq!(silent, [Reason::ResolveFailed, Reason::DialFailed, Reason::PhaseChanged, Reason::Limit]);
}

/// G11: an HTTP client gets a status that fits.
#[tokio::test]
async fn statuses() {
    for (prefix, reason, status) in [
        ("GET / HTTP/1.1\r\n", Reason::NameNotAllowed, "403 Forbidden"),
        ("GET / HTTP/1.1\r\n", Reason::PortNotAllowed, "403 Forbidden"),
        ("GET / HTTP/1.1\r\n", Reason::HostMissing, "400 Bad Request"),
        ("GET / HTTP/1.1\r\n", Reason::HttpMalformed, "400 Bad Request"),
        ("GET / HTTP/1.1\r\n", Reason::HostMismatch, "421 Misdirected Request"),
        ("GET / HTTP/1.1\r\n", Reason::HelloTimeout, "408 Request Timeout"),
        ("GET / HTTP/1.1\r\n", Reason::HelloTooLarge, "431 Request Header Fields Too Large"),
        ("CONNECT a:1 HTTP/1.1\r\n", Reason::HttpMethod, "405 Method Not Allowed"),
        ("PRI * HTTP/2.0\r\n", Reason::HttpMethod, "505 HTTP Version Not Supported"),
        ("GET / HTTP/1.1\r\n", Reason::DialFailed, "502 Bad Gateway"),
        ("GET / HTTP/1.1\r\n", Reason::Limit, "503 Service Unavailable"),
    ] {
        let (said, reset) = refused(prefix.as_bytes(), reason).await;
        let said = String::from_utf8(said).unwrap();
        assert!(!reset);
        assert!(said.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{said}");
        assert!(said.contains(&format!("\r\nx-closedbook-reason: {reason}\r\n")), "{said}");
        assert!(said.contains("\r\nconnection: close\r\n"), "{said}");
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{said}");
        assert!(body.contains("why") && body.contains(reason.word()), "{said}");
    }
    let (said, _) = refused(b"HEAD / HTTP/1.1\r\n", Reason::NameNotAllowed).await;
    assert!(String::from_utf8(said).unwrap().ends_with("\r\n\r\n"), "HEAD has no body");
}

/// The version of the alert is the client's, as far as there is such a version.
#[test]
fn tongues() {
    assert_eq!(Tongue::of(&[22, 3, 3, 0, 5]), Tongue::Tls([3, 3]));
    assert_eq!(Tongue::of(&[22, 3, 0]), Tongue::Tls([3, 0]));
    assert_eq!(Tongue::of(&[22, 3, 9]), Tongue::Tls([3, 3]));
    assert_eq!(Tongue::of(&[22]), Tongue::Tls([3, 3]));
    assert_eq!(Tongue::of(b"GET / "), Tongue::Http);
    assert_eq!(Tongue::of(b"GET"), Tongue::Unknown);
    assert_eq!(Tongue::of(b""), Tongue::Unknown);
}
