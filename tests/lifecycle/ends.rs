//! Each part is killed while the command has connections, children and daemons.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::start;
use crate::support::life::Part;
use crate::support::modes;

/// What every way out answers when nobody serves it: six to the listeners, and UDP by the rules.
const ALL_CLOSED: &str =
    "ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED EPERM";

/// G6: the rules stay and lead nowhere; open connections end, new ones are refused at once, and the user is told. A
/// supervisor that is stopped for that long puts no other in its place.
#[test]
fn the_proxy_is_killed() {
    for &mode in modes() {
        let mut life = start(mode);
        assert_eq!(life.say("stream"), "flowing");
        assert_eq!(life.say("descendants"), "born");
        let supervisor = Pid::from_raw(life.part(Part::Supervisor).unwrap() as i32);
        kill(supervisor, Signal::SIGSTOP).unwrap();
        assert!(life.kill(Part::Proxy));
        assert_eq!(life.say("ended"), "ended", "{mode:?}");
        assert_eq!(life.say("out"), ALL_CLOSED, "{mode:?}");
        kill(supervisor, Signal::SIGCONT).unwrap();
        let ended = life.end();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        assert!(ended.errors.contains("the proxy was killed by SIGKILL; another is started"), "{ended:?}");
        assert!(!ended.witness.contains("N0NCE-after"), "{ended:?}");
    }
}

/// G6: the kernel ends the whole task with its first process.
#[test]
fn the_first_process_is_killed() {
    for &mode in modes() {
        let mut life = start(mode);
        assert_eq!(life.say("stream"), "flowing");
        assert_eq!(life.say("descendants"), "born");
        assert!(life.kill(Part::Init));
        assert_eq!(life.hear(), "", "the command lives");
        let ended = life.end();
        assert_eq!(ended.status.code(), Some(137), "{ended:?}");
        assert!(ended.errors.contains("init process was killed, and the command with it"), "{ended:?}");
        let cut =
            |record: &&serde_json::Value| record["name"] == "api.anthropic.com" && record["kind"] == "tls";
        assert_eq!(ended.log.iter().filter(cut).count(), 1, "G13: its last flow is in the log: {ended:?}");
    }
}

/// Nobody is left to tidy up, so everything must end by itself.
#[test]
fn the_supervisor_is_killed() {
    for &mode in modes() {
        let mut life = start(mode);
        assert_eq!(life.say("stream"), "flowing");
        assert_eq!(life.say("descendants"), "born");
        assert!(life.kill(Part::Supervisor));
        assert_eq!(life.hear(), "", "the command lives");
        life.end();
    }
}

#[test]
fn the_lab_is_killed() {
    for &mode in modes() {
        let mut life = start(mode);
        assert_eq!(life.say("stream"), "flowing");
        assert!(life.kill(Part::Lab));
        assert_eq!(life.say("descendants"), "born");
        let ended = life.end();
        assert_eq!(ended.status.code(), Some(1), "what has arrived can't be told any more: {ended:?}");
        assert!(ended.errors.contains("the lab does not tell what it saw"), "{ended:?}");
    }
}

/// What the command leaves running ends with it: daemons, those that block signals, stopped ones.
#[test]
fn the_command_ends() {
    for &mode in modes() {
        let mut life = start(mode);
        assert_eq!(life.say("descendants"), "born");
        let ended = life.end();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        assert_eq!(ended.errors, "", "nothing was refused, so there is nothing to say");
    }
}

#[test]
fn the_command_is_ended_by_a_signal_to_the_supervisor() {
    for &mode in modes() {
        let mut life = start(mode);
        assert_eq!(life.say("descendants"), "born");
        life.look();
        let supervisor = life.part(Part::Supervisor).unwrap();
        kill(Pid::from_raw(supervisor as i32), Signal::SIGTERM).unwrap();
        assert_eq!(life.hear(), "");
        assert_eq!(life.end().status.code(), Some(128 + 15));
    }
}
