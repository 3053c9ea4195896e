//! What a switch does to every kind of connection.

use crate::live;
use crate::support::live::private_folder;
use crate::support::modes;

/// G7: what the new phase forbids is cut, with a reset, or refused when it says the rest of its hello or head; what it
/// permits goes on as if nothing had been. Nothing that was sent after the switch reaches a forbidden server.
#[test]
fn every_kind_of_connection() {
    for &mode in modes() {
        let runtime = private_folder(mode);
        let mut run = live(mode, &runtime, &["python3", "-c", include_str!("programs/kinds.py")]);
        assert_eq!(run.hear(), "ready");
        let live = run.json(&["status", "--json"])["flows"].as_u64().unwrap();
        let switched = run.json(&["phase", "agent", "--json"]);
        // TLS, kept, body, WebSocket and raw of one host.
        assert_eq!(
            (&switched["cut"]["total"], &switched["widened"]),
            (&5.into(), &serde_json::Value::Null),
            "{switched}"
        );
        assert_eq!(switched["kept"].as_u64().unwrap(), live - 5, "{switched}");
        run.say("go on");
        let said: Vec<String> = (0..18).map(|_| run.hear()).collect();
        let expected = [
            "kept Tls 200",
            "kept Kept 200",
            "kept Body 200",
            "kept Head 200",
            "kept Hello TLSv1.3",
            "kept WebSocket after-websocket",
            "kept Raw echoed",
            "kept Dns answered",
            "kept Remembered echoed",
            "cut Tls reset",
            "cut Kept reset",
            "cut Body reset",
            "cut Head refused",
            "cut Hello TLSV1_ALERT_ACCESS_DENIED",
            "cut WebSocket reset",
            "cut Raw reset",
            "cut Dns no such name",
            "cut Remembered reset",
        ];
        assert_eq!(said, expected);
        let run = run.end().must_succeed();
        let forbidden = |arrival: &&serde_json::Value| {
            let text = arrival.to_string();
            text.contains("registry.npmjs.org") && text.contains("after-")
        };
        assert_eq!(run.witness.iter().filter(forbidden).count(), 0, "{run:?}");
        // The kept connection's request was over, and is recorded as what it was.
        assert_eq!(run.records("cut", "phase-changed"), 4, "{run:?}");
    }
}

/// G7: `lockdown` ends everything, connections that have not said yet what they want included.
#[test]
fn lockdown() {
    let mode = modes()[0];
    let runtime = private_folder(mode);
    let mut run = live(mode, &runtime, &["python3", "-c", include_str!("programs/kinds.py")]);
    assert_eq!(run.hear(), "ready");
    let status = run.json(&["status", "--json"]);
    let switched = run.json(&["phase", "lockdown", "--json"]);
    assert_eq!(switched["cut"]["total"], status["flows"]);
    assert_eq!(switched["kept"], 0);
    run.say("go on");
    for _ in 0..18 {
        let said = run.hear();
        let over = said.ends_with(" reset") || said.ends_with(" Dns no such name");
        assert!(over, "{said}");
    }
    run.end().must_succeed();
}
