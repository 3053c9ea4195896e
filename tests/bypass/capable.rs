//! With every capability over the network: devices of one's own, and bridges to other networks.
//!
//! Steps: from outside, in the user namespace that owns the command's network, with every capability in it: make pairs of
//! devices with the other end in the host's or the lab's network, move devices there, open those networks, make tunnels,
//! routes and forwarding, flush the rules; then send by what was made.
//!
//! Guarantees: G2. What owns a network namespace owns no other: the other end needs a capability over there.

use serde_json::json;

use crate::program::{Program, Sealed};
use crate::support::{Run, modes};

#[test]
fn bridges_to_other_networks() {
    for &mode in modes() {
        let run = Run::in_lab(mode).allow("api.anthropic.com");
        let Sealed { program, task, proxy } = Sealed::start(&run);
        let mut capable = Program::inside(mode, task);
        let mut said = |words: &[&str]| {
            let output = capable.order(&json!({"command": words}));
            output["output"].as_str().unwrap().to_owned()
        };
        let succeeds = |output: &str| output.contains("returncode=0");
        for pid in [std::process::id(), proxy] {
            let pid = pid.to_string();
            let peer =
                said(&["ip", "link", "add", "x0", "type", "veth", "peer", "name", "x1", "netns", &pid]);
            assert!(!succeeds(&peer), "{mode:?}: {peer}");
            assert!(succeeds(&said(&["ip", "link", "add", "y0", "type", "veth", "peer", "name", "y1"])));
            let moved = said(&["ip", "link", "set", "y0", "netns", &pid]);
            assert!(!succeeds(&moved), "{mode:?}: {moved}");
            assert!(succeeds(&said(&["ip", "link", "delete", "y0"])));
            let entered = said(&["nsenter", &format!("--net=/proc/{pid}/ns/net"), "true"]);
            assert!(!succeeds(&entered), "{mode:?}: {entered}");
        }
        // All that can be done here, done: a way for everything, and no rules.
        for words in [
            &["ip", "link", "add", "y0", "type", "veth", "peer", "name", "y1"][..],
            &["ip", "link", "set", "y0", "up"],
            &["ip", "link", "set", "y1", "up"],
            &["ip", "address", "add", "203.0.113.77/24", "dev", "y0"],
            &["ip", "route", "replace", "default", "dev", "y0"],
            &["ip", "-6", "route", "replace", "default", "dev", "y0"],
            &["nft", "flush", "ruleset"],
        ] {
            let output = said(words);
            assert!(succeeds(&output), "{mode:?}, {words:?}: {output}");
        }
        let ways = [
            "udp(v4, 4444, N, (socket.SOL_SOCKET, SO_BINDTODEVICE, b'y0'))",
            "udp('198.51.100.1', 4444, N)",
            "tcp('198.51.100.1', 443, hello(sni(host)))",
            "tcp('2001:db8::1:1', 443, hello(sni(host)))",
            "raw(253, N)",
            "frame(0x0800, ip(datagram(N, 4444), 17))",
        ];
        let attacks: Vec<_> = ways
            .iter()
            .map(|code| {
                json!({"name": code, "code": code, "nonce": "N0NCE-capable", "v4": "203.0.113.9", "v6": "2001:db8:0:bad::9"})
            })
            .collect();
        capable.order(&json!({"attacks": attacks, "together": true, "wait": 0.25}));
        drop(capable);
        let outcome = run.outcome(program.end());
        assert!(!outcome.arrived("N0NCE-capable"), "{mode:?}: {outcome:?}");
    }
}
