//! `closedbook sidecar inner|outer`: the two halves started by hand, each in a place of its own, as in two containers.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::process::Stdio;

use support::{Mode, modes};

/// Starts both halves in the lab, lets a task look around, kills the outer half, and starts another.
const SCRIPT: &str = r#"
set -eu
folder=$1 closedbook=$2
mkdir -m 700 "$folder"
cat > "$folder/policy.toml" <<END
schema = 1
[phase.setup]
allow = ["registry.npmjs.org"]
[phase.agent]
allow = ["api.anthropic.com"]
END
sealed() { nsenter -t "$inner" -U -n --preserve-credentials "$@"; }
ask() { sealed curl -sS -m 20 -o /dev/null -w '%{http_code}\n' "https://$1/" 2>&1 || true; }
outer() {
  "$closedbook" sidecar outer --handoff "$folder/handoff" --policy "$folder/policy.toml" --phase agent \
    --log "$folder/log" --resolver 192.0.2.53 2> >(tee "$folder/said" >&2) &
  outer=$!
  until grep -qs serving "$folder/said"; do kill -0 "$outer"; done
}

unshare -rn "$closedbook" sidecar inner --handoff "$folder/handoff" &
inner=$!
outer
for half in "$inner" "$outer"; do
  grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' "/proc/$half/status" | cut -f 2 | paste -sd ' '
done
ask api.anthropic.com
ask registry.npmjs.org
kill -KILL "$outer"; wait "$outer" || true
ask api.anthropic.com
rm "$folder/said"
outer
ask api.anthropic.com
kill "$outer" "$inner"; wait
grep -c '"verdict":"allow"' "$folder/log" > /dev/null && echo logged
"#;

/// G6, G17: the inner half closes the namespace and keeps no privilege; while there is no outer half everything is refused;
/// one that is started anew serves like the first.
#[test]
fn two_halves_by_hand() {
    for &mode in modes() {
        let home = support::open_folder();
        let output = support::as_mode(mode, true)
            .args([support::program(), "lab", "exec", "--", "bash", "-c", SCRIPT, "bash"])
            .arg(home.path().join("halves"))
            .arg(support::program())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = said.lines().collect();
        let none = "0000000000000000";
        let inner = format!("{none} {none} {none} {none} {none} 1 2");
        // Without a capability the bounding set can't be emptied; no_new_privs makes it meaningless.
        let bounding = if mode == Mode::Root { none } else { lines[1].split(' ').nth(3).unwrap() };
        let outer = format!("{none} {none} {none} {bounding} {none} 1 2");
        assert_eq!(lines[..2], [&inner, &outer], "{mode:?}: {output:?}");
        assert_eq!(lines[2], "200", "{mode:?}: {output:?}");
        assert!(said.contains("Could not resolve host: registry.npmjs.org"), "{mode:?}: {output:?}");
        assert!(said.contains("Could not resolve host: api.anthropic.com"), "{mode:?}: {output:?}");
        assert_eq!(lines[lines.len() - 2..], ["200", "logged"], "{mode:?}: {output:?}");
    }
}

/// Starts the outer half before there is an inner one, and looks at every way in which it says that it serves.
const READY: &str = r#"
set -eu
folder=$1 closedbook=$2 python=$3
mkdir -m 700 "$folder"
cat > "$folder/policy.toml" <<END
schema = 1
[phase.agent]
allow = ["api.anthropic.com"]
END
"$python" -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); print("bound", flush=True)
print(s.recv(100).decode())' "$folder/notify" > "$folder/notified" &
manager=$!
until grep -qs bound "$folder/notified"; do kill -0 "$manager"; done
mkfifo "$folder/fd"
touch "$folder/ready"
NOTIFY_SOCKET=$folder/notify "$closedbook" sidecar outer --handoff "$folder/handoff" --policy "$folder/policy.toml" \
  --phase agent --resolver 192.0.2.53 --ready-file "$folder/ready" --ready-fd 77 77> "$folder/fd" &
outer=$!
exec 78< "$folder/fd"
while [ -e "$folder/ready" ]; do kill -0 "$outer"; done
echo "not yet"
unshare -rn "$closedbook" sidecar inner --handoff "$folder/handoff" &
inner=$!
read -r -u 78 said
echo "$said"
wait "$manager"
tail -n 1 "$folder/notified"
until [ -e "$folder/ready" ]; do kill -0 "$outer"; done
echo "a file"
kill -KILL "$outer"; wait "$outer" || true
while [ -e "$folder/ready" ]; do :; done
echo "no file"
kill "$inner"; wait
"#;

/// G6: the outer half says that it serves when the self-test has passed and not before, in every way there is; the file
/// goes with it, also when it is killed.
#[test]
fn readiness_is_announced_after_the_self_test() {
    for &mode in modes() {
        let home = support::open_folder();
        let output = support::as_mode(mode, true)
            .args(["timeout", "60", support::program(), "lab", "exec", "--", "bash", "-c", READY, "bash"])
            .arg(home.path().join("halves"))
            .args([support::program(), support::python()])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "not yet\nready\nREADY=1\na file\nno file\n", "{mode:?}: {output:?}");
    }
}

/// Switches the phase, kills the outer half, and starts it again with the words of the first time.
const SWITCHED: &str = r#"
set -eu
folder=$1 closedbook=$2
mkdir -m 700 "$folder"
cat > "$folder/policy.toml" <<END
schema = 1
[phase.setup]
allow = ["registry.npmjs.org", "api.anthropic.com"]
[phase.agent]
allow = ["api.anthropic.com"]
END
sealed() { nsenter -t "$inner" -U -n --preserve-credentials "$@"; }
ask() { sealed curl -sS -m 20 -o /dev/null -w '%{http_code}\n' "https://$1/" 2>/dev/null || echo refused; }
outer() {
  "$closedbook" sidecar outer --handoff "$folder/handoff" --policy "$folder/policy.toml" --phase setup \
    --control "$folder/control" --resolver 192.0.2.53 2> >(tee "$folder/said" >&2) &
  outer=$!
  until grep -qs serving "$folder/said"; do kill -0 "$outer"; done
}
unshare -rn "$closedbook" sidecar inner --handoff "$folder/handoff" &
inner=$!
outer
ask registry.npmjs.org
"$closedbook" phase agent --control "$folder/control" > /dev/null
kill -KILL "$outer"; wait "$outer" || true
rm "$folder/said"
outer
ask registry.npmjs.org
ask api.anthropic.com
kill "$outer" "$inner"; wait
"#;

/// G6, G7: an outer half that takes another's place begins in the phase that is in force, not in the one of its command
/// line.
#[test]
fn a_switch_outlives_the_outer_half() {
    for &mode in modes() {
        let home = support::open_folder();
        let output = support::as_mode(mode, true)
            .args(["timeout", "60", support::program(), "lab", "exec", "--", "bash", "-c", SWITCHED, "bash"])
            .arg(home.path().join("halves"))
            .arg(support::program())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        // curl writes what it has, which is no status, before it fails.
        assert_eq!(said, "200\n000\nrefused\n200\n", "{mode:?}: {output:?}");
    }
}

/// G2: a namespace with an uplink is not closed, and says so.
#[test]
fn a_namespace_with_an_uplink_is_refused() {
    let script =
        "ip link add uplink type veth peer name other; exec \"$1\" sidecar inner --handoff \"$2/handoff\"";
    for &mode in modes() {
        let folder = support::open_folder();
        let mut command = support::as_mode(mode, true);
        command.args([
            "bash",
            "-c",
            "mkdir -m 700 \"$2/own\" && exec unshare -rn bash -c \"$3\" bash \"$1\" \"$2/own\"",
            "bash",
        ]);
        let output = command.arg(support::program()).arg(folder.path()).arg(script).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{mode:?}: {said}");
        assert!(said.contains("uplink") && said.contains("network_mode: none"), "{mode:?}: {said}");
    }
}

/// G10: whoever can write to the folder could hand the proxy other listeners.
#[test]
fn a_handoff_in_a_folder_of_everybody_is_refused() {
    let folder = support::open_folder();
    let output = support::as_mode(Mode::Rootless, false)
        .args([support::program(), "sidecar", "inner", "--handoff"])
        .arg(folder.path().join("handoff"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("others may write to") && said.contains("chmod go-w"), "{said}");
}
