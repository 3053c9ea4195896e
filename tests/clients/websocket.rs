//! WebSocket: inside TLS it is nobody's business; in the clear an entry must say so.

use crate::run;
use crate::support::{Outcome, Run, modes};

const TALK: [&str; 5] = [
    "status: HTTP/1.1 101 Switching Protocols\naccept: True\n",
    "message: 1 True\n",
    "message: 2 True\n",
    "ping: (10, b'are you there')\n",
    "closing: 8 True\n",
];

fn websocket(run: Run, over: &[&str]) -> Outcome {
    let program = concat!(include_str!("programs/wire.py"), include_str!("programs/websocket.py"));
    run.words(&[&["python3", "-c", program], over].concat())
}

#[track_caller]
fn must_talk(run: Outcome) -> Outcome {
    TALK.iter().fold(run.must_succeed(), |run, line| run.must_print(line))
}

/// G12: an ordinary entry is enough inside TLS.
#[test]
fn inside_tls() {
    for &mode in modes() {
        must_talk(websocket(run(mode), &["tls"]));
    }
}

/// G5: in the clear, an entry with `ws://` lets the upgrade through, and its one record has all the bytes.
#[test]
fn in_the_clear_with_an_entry_that_says_so() {
    for &mode in modes() {
        let run = must_talk(websocket(Run::in_lab(mode).allow("ws://api.anthropic.com"), &["plain"]));
        let records = run.of_kind("http");
        assert_eq!(records.len(), 1, "{run:#?}");
        assert_eq!(records[0]["rule"], "ws://api.anthropic.com", "{run:#?}");
        let bytes = |field: &str| records[0][field].as_u64().unwrap();
        assert!(bytes("bytes_up") > 60_000 && bytes("bytes_down") > 60_000, "{run:#?}");
    }
}

/// G5: a frame that comes together with the handshake waits until the server has agreed, and is not lost.
#[test]
fn an_early_frame_waits_for_the_answer() {
    for &mode in modes() {
        let run = websocket(Run::in_lab(mode).allow("ws://api.anthropic.com"), &["plain", "early"]);
        must_talk(run).must_print("early: (1, b'at once')\n");
    }
}

/// G5, G11: without such an entry the upgrade is refused, and the run's last line says which entry it would take.
#[test]
fn in_the_clear_without_one() {
    for &mode in modes() {
        let run = websocket(run(mode), &["plain"]);
        assert_eq!(run.code, 3, "{run:#?}");
        run.must_print("status: HTTP/1.1 403 Forbidden\nreason: http-upgrade\n")
            .must_complain("add with --allow ws://api.anthropic.com")
            .must_record(1, "deny", "http-upgrade")
            .must_not_arrive("GET /ws");
    }
}
