//! A log on a disk that is full for a while.

use std::process::Command;

use crate::support::{Mode, Outcome};
use crate::{by_way_of, python, run};

/// A file system of 64 KiB in a mount namespace of its own, all but full; the log in it is copied out at the end.
const SMALL_DISK: &str = r#"
set -eu
folder=$1; shift
mkdir "$folder/disk"
mount -t tmpfs -o size=64k,mode=777 none "$folder/disk"
head -c 57344 /dev/zero > "$folder/disk/filler"
chmod 666 "$folder/disk/filler"
code=0
"$@" || code=$?
cat "$folder/disk/egress.jsonl" > "$folder/egress.jsonl"
exit $code
"#;

/// The program runs until the disk is full, makes room, and runs until there is service again.
const PROGRAM: &str = r#"
answered = 0
while served(f'/filling-{answered}'):
    answered += 1
    if answered > 60 and CONTINUES:
        break
os.truncate('disk/filler', 0)
refused = 0
while not served('/room-again'):
    refused += 1
assert all(served(f'/then-{number}') for number in range(5))
print(answered + 1 + 5)
"#;

fn on_a_small_disk(continues: bool) -> (Outcome, usize) {
    // Mounting needs root, or a user namespace in which one is.
    let root = nix::unistd::geteuid().is_root();
    let mode = if root { Mode::Root } else { Mode::Rootless };
    let mut run = run(mode);
    if continues {
        run = run.flag("--log-full").flag("continue");
    }
    let program = PROGRAM.replace("CONTINUES", if continues { "True" } else { "False" });
    let words = python(&program);
    let command = run.command(&words.each_ref().map(String::as_str));
    let (log, moved) = (run.file("egress.jsonl"), run.file("disk/egress.jsonl"));
    let mut elsewhere = Command::new(command.get_program());
    elsewhere
        .args(command.get_args().map(|word| if word == log { moved.as_os_str() } else { word }))
        .current_dir(command.get_current_dir().unwrap());
    let folder = run.file("");
    let unshare: &[&str] = if root { &["unshare", "-m"] } else { &["unshare", "-Urm"] };
    let by =
        [unshare, &["sh", "-c", SMALL_DISK, "sh", folder.to_str().unwrap().trim_end_matches('/')]].concat();
    let output = by_way_of(&by, &elsewhere).output().unwrap();
    let outcome = run.outcome(output).must_succeed();
    let answered = outcome.stdout.trim().parse().unwrap();
    (outcome, answered)
}

/// G13: with the disk full new flows are refused, and when there is room again they are served; the log has every
/// attempt that was served, each line whole.
#[test]
fn a_full_disk_stops_new_flows() {
    let (outcome, answered) = on_a_small_disk(false);
    assert!(answered > 6, "{outcome:#?}");
    assert_eq!(
        outcome.log.iter().filter(|record| record["verdict"] == "allow").count(),
        answered,
        "{outcome:#?}"
    );
    assert!(outcome.stderr.contains("the decision log can't be written"), "{outcome:#?}");
    assert!(outcome.stderr.contains("not in the decision log"), "{outcome:#?}");
}

/// G13: unless the operator wants it otherwise. What was kept in memory meanwhile is written when there is room.
#[test]
fn a_full_disk_stops_nobody_if_told_so() {
    let (outcome, answered) = on_a_small_disk(true);
    assert!(answered > 60, "{outcome:#?}");
    assert_eq!(
        outcome.log.iter().filter(|record| record["verdict"] == "allow").count(),
        answered,
        "{outcome:#?}"
    );
    assert!(outcome.stderr.contains("the decision log can't be written"), "{outcome:#?}");
    assert!(!outcome.stderr.contains("not in the decision log"), "{outcome:#?}");
}
