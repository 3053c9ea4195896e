//! A switch while very many connections are open, with traffic on all of them.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::live;
use crate::support::live::private_folder;
use crate::support::modes;

/// Rounds, of which the median counts.
const ROUNDS: usize = 10;

/// Connections that are tried; `CLOSEDBOOK_FLOWS` says otherwise, for the figure of the documentation.
const FLOWS: usize = 400;

/// G7: of many open connections half become forbidden. Each of those is reset and not a byte that it writes after the
/// switch comes back from its server; those that are still permitted lose none. The time is printed, for people.
#[test]
fn half_of_many_become_forbidden() {
    let flows: usize = std::env::var("CLOSEDBOOK_FLOWS").ok().map_or(FLOWS, |text| text.parse().unwrap());
    // The one whose user runs the tests: the socket is spoken to directly.
    let mode = modes()[0];
    let runtime = private_folder(mode);
    let program = include_str!("programs/many.py");
    let mut run = live(mode, &runtime, &["python3", "-c", program, &flows.to_string()]);
    assert_eq!(run.hear(), "ready");
    let socket = std::fs::read_dir(runtime.path().join("closedbook/runs")).unwrap().next().unwrap();
    let mut control = Control::connect(&socket.unwrap().path());
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        run.say("open");
        assert_eq!(run.hear(), "open");
        let (time, switched) = control.switch("agent");
        times.push(time);
        run.say("mark");
        assert_eq!(switched["cut"]["total"], flows / 2, "{switched}");
        assert_eq!(switched["kept"], flows / 2, "{switched}");
        assert_eq!(run.hear(), format!("resets {} leaks 0 others 0", flows / 2));
        control.switch("setup");
    }
    run.say("end");
    assert_eq!(run.hear(), format!("kept {} equal {}", flows / 2, flows / 2));
    let run = run.end().must_succeed();
    assert_eq!(run.records("cut", "phase-changed"), ROUNDS * flows / 2);
    times.sort();
    let said = format!(
        "=== {mode:?}: phase.set with {flows} open flows, half of them cut: median {:.1} ms (of {:?}) ===\n",
        times[ROUNDS / 2].as_secs_f64() * 1e3,
        times.iter().map(|time| time.as_millis()).collect::<Vec<_>>(),
    );
    // Past the harness's capture.
    std::io::stderr().write_all(said.as_bytes()).unwrap();
}

/// The socket itself, so that no time is spent on starting a program.
struct Control(BufReader<UnixStream>);

impl Control {
    fn connect(path: &Path) -> Self {
        Self(BufReader::new(UnixStream::connect(path).unwrap()))
    }

    fn switch(&mut self, phase: &str) -> (Duration, Value) {
        let params = serde_json::json!({ "name": phase, "widen": true });
        let request =
            serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "phase.set", "params": params });
        let started = Instant::now();
        self.0.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        let time = started.elapsed();
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer.get("error").is_none(), "{answer}");
        (time, answer["result"].take())
    }
}
