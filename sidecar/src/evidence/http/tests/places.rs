//! Where the gate stands, and what an upgrade does to it.

use closedbook_policy::Upgrade;

use super::super::{Gate, Place, Step, sniff_head};
use crate::evidence::Sniff;

const UPGRADE: &[u8] =
    b"GET /chat HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const NEXT: &[u8] = b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";

/// A deadline hangs on the head, none on the time between requests or on a body.
#[test]
fn places_of_a_kept_connection() {
    let mut gate = Gate::default();
    let mut kept = Vec::new();
    let mut places = Vec::new();
    let stream = b"POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabcGET";
    for byte in stream {
        kept.push(*byte);
        while let Ok(Step::Head { length, .. } | Step::Body { length }) = gate.next(&kept) {
            kept.drain(..length);
        }
        places.push(gate.place());
    }
    let head = stream.len() - 7;
    assert_eq!(Gate::default().place(), Place::Between);
    assert!(places[..head].iter().all(|place| *place == Place::Head));
    assert_eq!(
        places[head..],
        [Place::Body, Place::Body, Place::Body, Place::Between, Place::Head, Place::Head, Place::Head]
    );
}

fn held() -> Gate {
    let mut gate = Gate::default();
    match gate.next(UPGRADE) {
        Ok(Step::Head { request, length }) => {
            assert_eq!((request.upgrade, length), (Upgrade::WebSocket, UPGRADE.len()));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(gate.place(), Place::Held);
    // RFC 9931: what the client sends before the answer stays here, whatever it looks like.
    for optimistic in [&b""[..], b"\x81\x05hello", NEXT] {
        assert_eq!(gate.next(optimistic), Ok(Step::Held));
    }
    gate
}

/// G5: optimistic bytes reach the server only after its 101.
#[test]
fn upgraded() {
    let mut gate = held();
    gate.upgraded();
    assert_eq!(gate.place(), Place::Tunnel);
    assert_eq!(gate.next(b""), Ok(Step::More));
    assert_eq!(gate.next(b"\x81\x05hello"), Ok(Step::Tunnel { length: 7 }));
    // There is no way back into HTTP.
    gate.not_upgraded();
    assert_eq!(gate.next(NEXT), Ok(Step::Tunnel { length: NEXT.len() }));
}

/// G5: after a refused upgrade, what came early is the next request, or is refused as one.
#[test]
fn not_upgraded() {
    let mut gate = held();
    gate.not_upgraded();
    assert_eq!(gate.place(), Place::Between);
    assert!(
        matches!(gate.next(NEXT), Ok(Step::Head { request, .. }) if request.host.to_string() == "b.example")
    );
    let mut gate = held();
    gate.not_upgraded();
    assert!(gate.next(b"\x81\x05hello").is_err());
    assert_eq!(gate.place(), Place::Refused);
}

/// G5: no call in the wrong place opens a tunnel.
#[test]
fn upgraded_without_a_request() {
    let mut gate = Gate::default();
    gate.upgraded();
    assert_eq!(gate.place(), Place::Between);
    assert!(gate.next(b"\x81\x05hello").is_err());
    gate.upgraded();
    gate.not_upgraded();
    assert_eq!(gate.place(), Place::Refused);
}

/// G4: a refusal is for ever.
#[test]
fn refused_for_ever() {
    let mut gate = Gate::default();
    let refusal = gate.next(b"GET /\0").unwrap_err();
    assert_eq!(gate.next(NEXT), Err(refusal.clone()));
    assert_eq!(gate.next(b""), Err(refusal));
}

#[test]
fn first_heads() {
    for end in 0..NEXT.len() {
        assert_eq!(sniff_head(&NEXT[..end]), Sniff::Incomplete);
    }
    assert!(matches!(sniff_head(NEXT), Sniff::Found(request) if request.host.to_string() == "b.example"));
    assert!(matches!(sniff_head(b"GET *"), Sniff::Incomplete));
    assert!(matches!(sniff_head(b"GET * HTTP/1.1\r\n"), Sniff::Refused(_)));
}
