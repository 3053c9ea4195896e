//! Which run is meant.

use std::fs;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use crate::support::live::{ask, private_folder};
use crate::support::modes;
use crate::{WAITS, live, must_refuse, text};

/// The only run needs no name; of several, one is chosen by name or process; what is not there is said to be so.
#[test]
fn by_name_by_process_or_because_it_is_the_only_one() {
    for &mode in modes() {
        let runtime = private_folder(mode);
        must_refuse(&ask(mode, runtime.path(), &["status"]), 1, "no run of yours is going");
        let mut first = live(mode, &runtime, "agent", &["--name", "first"], &WAITS);
        assert_eq!(first.hear(), "ready");
        assert!(text(&first.find(&["status"]).stdout).starts_with("phase     agent (epoch 1"));
        let mut second = live(mode, &runtime, "setup", &[], &WAITS);
        assert_eq!(second.hear(), "ready");
        let several = first.find(&["phase"]);
        must_refuse(&several, 2, "2 runs of yours are going");
        for listed in [format!("--pid {}  --name first", first.id()), format!("--pid {}\n", second.id())] {
            assert!(text(&several.stderr).contains(&listed), "{listed:?} is not in {several:?}");
        }
        let pid = second.id().to_string();
        assert!(first.must(&["phase", "--name", "first"]).starts_with("agent "));
        assert!(first.must(&["phase", "--pid", &pid]).starts_with("setup "));
        must_refuse(&first.ask(&["phase", "--name", "third"]), 1, "no run of yours named third is going");
        must_refuse(&first.ask(&["phase", "--pid", "1"]), 1, "no run of yours of process 1 is going");
        must_refuse(&first.ask(&["phase", "--name", "no/name"]), 2, "letters, digits");
        let mut taken = live(mode, &runtime, "agent", &["--name", "first"], &WAITS);
        taken.say("exit");
        let taken = taken.end();
        assert_eq!(taken.code, 2, "{taken:?}");
        taken.must_complain("a run named first is going already");
        for run in [first, second] {
            run.end().must_succeed();
        }
        let left: Vec<_> = fs::read_dir(runtime.path().join("closedbook/runs")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The socket of a killed run goes with it; one that an earlier closedbook left is nobody's, and goes with the next run.
#[test]
fn killed_runs_leave_no_socket() {
    let mode = modes()[0];
    let runtime = private_folder(mode);
    let mut killed = live(mode, &runtime, "agent", &[], &WAITS);
    assert_eq!(killed.hear(), "ready");
    let pid = nix::unistd::Pid::from_raw(killed.id().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    killed.end();
    let runs = runtime.path().join("closedbook/runs");
    let sockets = || fs::read_dir(&runs).unwrap().count();
    let deadline = Instant::now() + Duration::from_secs(30);
    while sockets() > 0 {
        assert!(Instant::now() < deadline, "the socket is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(UnixListener::bind(runs.join(format!("{pid}.sock"))).unwrap());
    must_refuse(&ask(mode, runtime.path(), &["status"]), 1, "no run of yours is going");
    let mut next = live(mode, &runtime, "agent", &[], &WAITS);
    assert_eq!(next.hear(), "ready");
    assert_eq!(sockets(), 1);
    assert!(next.find(&["status"]).status.success());
    next.end().must_succeed();
    assert_eq!(sockets(), 0);
}
