//! `closedbook run`: the command is the user's own in every respect but the network.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::{Mode, Run, USER, modes};

/// G1, G3: the allowed name answers, another one is refused, by name and with the reason.
#[test]
fn an_allowed_name_answers_and_another_does_not() {
    for &mode in modes() {
        let run = Run::in_lab(mode).allow("api.anthropic.com").script(
            "curl -sS --fail https://api.anthropic.com/ && ! curl -sS --resolve example.com:443:198.51.100.7 https://example.com/",
        );
        let run = run.must_succeed();
        assert!(run.stdout.contains(r#""host":"api.anthropic.com""#), "{run:?}");
        assert!(run.stderr.contains("access denied"), "{run:?}");
        assert!(run.stderr.contains("example.com (name-not-allowed)"), "{run:?}");
        assert_eq!(run.records("deny", "name-not-allowed"), 1, "{run:?}");
        assert!(!run.arrived("example.com"), "{run:?}");
    }
}

#[test]
fn the_command_keeps_user_environment_folder_and_exit_code() {
    for &mode in modes() {
        let run = Run::in_lab(mode);
        let folder = run.file("");
        let mut command = run.command(&["bash", "-c", "id -u; id -g; echo $MARK; pwd; cat; exit 37"]);
        command.env("MARK", "kept");
        let output = support::with_input(command, b"from stdin");
        let run = run.outcome(output);
        let user = if mode == Mode::Root { 0 } else { USER };
        let folder = folder.to_string_lossy();
        assert_eq!(
            run.stdout,
            format!("{user}\n{user}\nkept\n{}\nfrom stdin", folder.trim_end_matches('/')),
            "{run:?}"
        );
        assert_eq!(run.code, 37, "{run:?}");
    }
}

#[test]
fn a_signal_to_closedbook_reaches_the_command() {
    for &mode in modes() {
        let run = Run::without_uplink(mode);
        // Blocked first: a signal that comes between two steps waits.
        let program = "
import signal, sys
mine = {signal.SIGUSR1, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, mine)
print('ready', flush=True)
print(signal.sigwait(mine).name, flush=True)
print(signal.sigwait(mine).name, flush=True)
sys.exit(9)";
        let mut child = run.command(&["python3", "-c", program]).stdout(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_raw(child.id().try_into().unwrap());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(lines.next().as_deref(), Some("ready"));
        kill(pid, Signal::SIGUSR1).unwrap();
        assert_eq!(lines.next().as_deref(), Some("SIGUSR1"));
        kill(pid, Signal::SIGTERM).unwrap();
        assert_eq!(lines.next().as_deref(), Some("SIGTERM"));
        assert_eq!(child.wait().unwrap().code(), Some(9));
    }
}

/// A command whose time is over is told to end, and killed if it does not, with what it has started.
#[test]
fn time_can_be_limited() {
    for &mode in modes() {
        let limited = |script: &str| Run::without_uplink(mode).flag("--within").flag("1").script(script);
        let told = limited("trap 'echo told; exit 3' TERM; while :; do sleep 0.05; done");
        assert_eq!((told.code, told.stdout.as_str()), (124, "told\n"), "{told:?}");
        assert!(told.stderr.contains("time is over (1 s)"), "{told:?}");
        let deaf = limited("trap '' TERM; (while :; do sleep 0.05; done) & while :; do sleep 0.05; done");
        assert_eq!(deaf.code, 124, "{deaf:?}");
        assert_eq!(limited("exit 3").code, 3);
    }
}

#[test]
fn a_killed_command_gives_the_code_that_a_shell_gives() {
    for &mode in modes() {
        assert_eq!(Run::without_uplink(mode).script("kill -KILL $$").code, 137);
        let missing = Run::without_uplink(mode).words(&["no-such-program"]);
        assert_eq!(missing.code, 127, "{missing:?}");
        assert!(missing.stderr.contains("can't run no-such-program"), "{missing:?}");
        assert_eq!(Run::without_uplink(mode).words(&["/etc/passwd"]).code, 126);
    }
}

/// Ctrl-C goes to the command, which decides what it means; Ctrl-Z stops both, and the shell gets its terminal back.
#[test]
fn the_terminal_is_the_commands() {
    let program = r#"
import os, pty, signal, sys
# Signals come by a pipe, so that none is missed between two steps.
COMMAND = """
import os, select, signal
reader, writer = os.pipe2(os.O_NONBLOCK)
signal.set_wakeup_fd(writer)
signal.signal(signal.SIGINT, lambda *_: None)
if os.isatty(0): print("a terminal", flush=True)
while True:
    ready, _, _ = select.select([0, reader], [], [])
    if reader in ready and os.read(reader, 1) == bytes([signal.SIGINT]): print("interrupted", flush=True)
    if 0 in ready: print("got", os.read(0, 100).decode(), flush=True)
"""
def until(fd, word, seen=b""):
    while word not in seen:
        seen += os.read(fd, 4096)
pid, fd = pty.fork()
if pid == 0:
    # A shell, as far as the terminal is concerned.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(sys.argv[1], [sys.argv[1], "run", "--", "python3", "-c", COMMAND])
    _, status = os.waitpid(job, os.WUNTRACED)
    assert os.WIFSTOPPED(status), status
    print("stopped", flush=True)
    os.killpg(job, signal.SIGCONT)
    _, status = os.waitpid(job, 0)
    print("ended with", os.waitstatus_to_exitcode(status), "in front again:", os.tcgetpgrp(0) == job, flush=True)
    os._exit(0)
until(fd, b"a terminal")
os.write(fd, b"\x03")
until(fd, b"interrupted")
os.write(fd, b"hello\n")
until(fd, b"got hello")
os.write(fd, b"\x1a")
until(fd, b"stopped")
os.write(fd, b"again\n")
until(fd, b"got again")
os.write(fd, b"\x1c")
until(fd, b"ended with 131 in front again: True")
print("done")
"#;
    for &mode in modes() {
        let outcome = support::as_mode(mode, false)
            .args(["timeout", "60", "python3", "-c", program, support::program()])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), "done\n", "{outcome:?}");
    }
}

/// What the command leaves running ends with it.
#[test]
fn nothing_outlives_the_command() {
    for &mode in modes() {
        let run = Run::without_uplink(mode);
        let lock = run.file("lock");
        let script = "mkfifo ready; setsid bash -c 'exec 9>lock; flock 9; echo > ready; exec sleep 1000' & read < ready";
        let output = run.command(&["bash", "-c", script]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let file = fs::File::open(&lock).unwrap();
        assert!(Flock::lock(file, FlockArg::LockExclusiveNonblock).is_ok(), "the lock is still held");
    }
}

/// G9: no descriptor of the caller but the standard streams.
#[test]
fn forgotten_descriptors_do_not_reach_the_command() {
    for &mode in modes() {
        let run = Run::without_uplink(mode);
        let inner = run.command(&["bash", "-c", "ls /proc/$$/fd"]);
        let mut words: Vec<String> = vec![inner.get_program().to_str().unwrap().into()];
        words.extend(inner.get_args().map(|word| word.to_str().unwrap().to_owned()));
        let output = Command::new("bash")
            .args(["-c", "exec 7</etc/passwd 8<>/dev/null \"$@\"", "bash"])
            .args(words)
            .output()
            .unwrap();
        let seen = String::from_utf8_lossy(&output.stdout).into_owned();
        // 3 is the folder that is being listed.
        let seen: Vec<&str> = seen.split_whitespace().collect();
        assert_eq!(seen, ["0", "1", "2", "3"], "{output:?}");
    }
}

/// G9: a socket that somebody outside answers is a way out, unless the user says otherwise.
#[test]
fn sockets_of_the_host_are_hidden_unless_they_are_kept() {
    for &mode in modes() {
        for keep in [false, true] {
            let mut run = Run::in_lab(mode);
            let path = run.file("host.sock");
            let _listener = UnixListener::bind(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
            if keep {
                run = run.flag("--keep-socket").flag(path.to_str().unwrap());
            }
            let run = run.python("import socket; socket.socket(socket.AF_UNIX).connect('host.sock')");
            assert_eq!(run.code == 0, keep, "{run:?}");
            let at_once =
                ["Connection refused", "Permission denied"].iter().any(|said| run.stderr.contains(said));
            assert!(keep || at_once, "{run:?}");
        }
    }
}

/// Hiding sockets takes a file to cover them with; nothing of it stays.
#[test]
fn nothing_stays_in_the_folder_for_temporary_files() {
    for &mode in modes() {
        let folder = support::open_folder();
        // The lab's own socket is hidden too, and found on two ways.
        let output = Run::in_lab(mode).command(&["true"]).env("TMPDIR", folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Sockets that the command makes itself work as ever.
#[test]
fn the_commands_own_sockets_work() {
    let program = r#"
import socket
for family, address in ((socket.AF_UNIX, "own.sock"), (socket.AF_INET, ("127.0.0.1", 80)), (socket.AF_INET6, ("::1", 8080))):
    server = socket.socket(family); server.bind(address); server.listen()
    client = socket.socket(family); client.connect(address); client.sendall(b"x")
    assert server.accept()[0].recv(1) == b"x"
"#;
    for &mode in modes() {
        Run::without_uplink(mode).python(program).must_succeed();
    }
}

#[test]
fn quiet_says_nothing_about_refusals() {
    let run =
        Run::in_lab(modes()[0]).flag("--quiet").script("curl -sS https://example.com/ 2>/dev/null; true");
    assert_eq!(run.must_succeed().stderr, "");
}
