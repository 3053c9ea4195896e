//! G10: who reaches the control socket, and who does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::live::private_folder;
use crate::support::{Mode, USER, modes};
use crate::{WAITS, live, text};

/// G10: the command sees neither the socket of its own run, nor that of another, nor one that is made later.
#[test]
fn the_command_sees_no_control_socket() {
    for &mode in modes() {
        let runtime = private_folder(mode);
        let elsewhere = private_folder(mode);
        let path = elsewhere.path().join("control");
        let mut first = live(mode, &runtime, "agent", &["--control", path.to_str().unwrap()], &WAITS);
        assert_eq!(first.hear(), "ready");
        let mut second = live(mode, &runtime, "agent", &[], &WAITS);
        assert_eq!(second.hear(), "ready");
        let mut third = live(mode, &runtime, "agent", &[], &WAITS);
        assert_eq!(third.hear(), "ready");
        let runs = runtime.path().join("closedbook/runs");
        let sockets: Vec<_> = fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(sockets.len(), 2);
        let attempt = |path: &std::path::Path| {
            let program = "import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])";
            format!("python3 -c '{program}' {} 2>&1 | tail -1", path.display())
        };
        for run in [&mut first, &mut second] {
            for socket in sockets.iter().chain([&path]) {
                run.say(&attempt(socket));
                let said = run.hear();
                let no = ["No such file", "Connection refused", "Permission denied", "not found"];
                assert!(no.iter().any(|no| said.contains(no)), "{}: {said}", socket.display());
            }
            // Mode and owner do not stop it, since it is the same user: it looks into an empty folder.
            run.say(&format!("ls -A {} 2>/dev/null | wc -l", runs.display()));
            assert_eq!(run.hear(), "0");
        }
        for run in [first, second, third] {
            run.end().must_succeed();
        }
    }
}

/// G10: another user who gets as far as the socket is told no; root is not.
#[test]
fn another_user_is_told_no() {
    if modes() != [Mode::Root, Mode::Rootless] {
        return;
    }
    for (mode, other) in [(Mode::Root, USER), (Mode::Rootless, USER + 1), (Mode::Rootless, 0)] {
        let runtime = private_folder(mode);
        let folder = private_folder(mode);
        let path = folder.path().join("control");
        let mut run = live(mode, &runtime, "agent", &["--control", path.to_str().unwrap()], &WAITS);
        assert_eq!(run.hear(), "ready");
        // What the file system would stop is let through, to see that it is not the only guard.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let program = r#"
import json, os, socket, sys
os.setuid(int(sys.argv[2]))
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"phase.set","params":{"name":"lockdown"}}\n')
answer = json.loads(s.makefile().readline())
print(answer["result"]["phase"] if "result" in answer else answer["error"]["data"]["word"])
"#;
        let output = Command::new("python3")
            .args(["-c", program, path.to_str().unwrap(), &other.to_string()])
            .output()
            .unwrap();
        // Inside the lab's user namespace, which is where the proxy of a lab run lives, the machine's root has no id.
        let expected = if other == 0 && mode == Mode::Root { "lockdown" } else { "not-permitted" };
        assert_eq!(text(&output.stdout).trim(), expected, "{mode:?} {other}: {output:?}");
        assert_eq!(run.json(&["phase", "--json", "--control", path.to_str().unwrap()])["name"], "agent");
        run.end().must_succeed();
    }
}
