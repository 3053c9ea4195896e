//! Metrics and messages of a run.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::live::{Live, private_folder};
use crate::support::{Run, modes};
use crate::{Spoken, metric, metrics_at, python, run, with_metrics};

/// G10: metrics are told to the user at a file, and the command can't reach it.
#[test]
fn for_the_user_alone() {
    const PROGRAM: &str = r#"
assert get('/a') == 200
assert get('/b', host='example.com') == 403
try:
    socket.socket(socket.AF_UNIX).connect('metrics')
    print('the command has reached the metrics')
except OSError:
    pass
say('there')
"#;
    for &mode in modes() {
        let (run, path) = with_metrics(run(mode));
        let words = python(PROGRAM);
        let mut spoken = Spoken::start(run.command(&words.each_ref().map(String::as_str)));
        spoken.hear("there");
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
        assert_eq!(mode & 0o777, 0o600);
        let second = Run::in_lab(modes()[0]).flag("--metrics").flag(&format!("unix:{}", path.display()));
        let second = second.words(&["true"]);
        assert_eq!(second.code, 2, "the place of another run is not taken: {second:#?}");
        let text = metrics_at(&path);
        let attempts = |labels: &str| metric(&text, &format!("closedbook_attempts_total{{{labels}}}"));
        assert_eq!(attempts(r#"kind="http",verdict="allow",reason="",phase="agent""#), 1.0);
        assert_eq!(attempts(r#"kind="http",verdict="deny",reason="name-not-allowed",phase="agent""#), 1.0);
        assert_eq!(metric(&text, "closedbook_degraded"), 0.0);
        spoken.tell();
        spoken.end(&run).must_succeed();
        assert!(!path.exists(), "the file goes with the run");
    }
}

/// `closedbook status` says what is degraded and what is spent, and has the metrics without any flag of the run.
#[test]
fn status_has_them_too() {
    for &mode in modes() {
        let runtime = private_folder(mode);
        let run = Run::without_uplink(mode).allow(crate::ALLOWED).flag("--resolver").flag("192.0.2.53");
        let words = python("say('there')\nassert get('/') in (502, 503, 504)\nsay('asked')\n");
        let mut run = Live::start(run, mode, &runtime, &words.each_ref().map(String::as_str));
        assert_eq!(run.hear(), "there");
        let pid = run.id().to_string();
        assert_eq!(run.json(&["status", "--json", "--pid", &pid])["degraded"], serde_json::json!([]));
        run.say("");
        assert_eq!(run.hear(), "asked");
        let status = run.ask(&["status", "--pid", &pid]);
        let text = String::from_utf8(status.stdout).unwrap();
        assert_eq!(status.status.code(), Some(1), "{text}");
        assert!(text.contains("\nDEGRADED  resolver-silent: ") && text.contains("\nload      "), "{text}");
        let text = run.must(&["status", "--metrics", "--pid", &pid]);
        assert_eq!(metric(&text, "closedbook_degraded"), 1.0, "{text}");
        run.say("");
        run.end().must_succeed();
    }
}

/// Over TCP on loopback too, and nowhere else. G2, G9: the loopback of the command is another one.
#[test]
fn on_loopback() {
    const PROGRAM: &str = r#"
say('there')
try:
    with connect('127.0.0.1', int(sys.stdin.readline())) as wire:
        wire.sendall(b'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')
        say(f'the command has heard {wire.recv(4096)}')
except OSError as error:
    say('nothing')
"#;
    let run = Run::in_lab(modes()[0]).flag("--metrics").flag("127.0.0.1:0");
    let words = python(PROGRAM);
    let mut command = run.command(&words.each_ref().map(String::as_str));
    command.stderr(std::process::Stdio::piped());
    let mut spoken = Spoken::start(command);
    spoken.hear("there");
    let mut stderr = std::io::BufReader::new(spoken.child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    let address = line.trim().strip_prefix("closedbook: metrics at http://").unwrap();
    let address = address.strip_suffix("/metrics").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let (_, port) = address.rsplit_once(':').unwrap();
    spoken.tell();
    spoken.tell_line(port);
    spoken.hear("nothing");
    spoken.tell();
    spoken.end(&run).must_succeed();
    for wrong in ["192.0.2.1:9090", "0.0.0.0:0", "9090", "unix:/proc/nothing", "localhost:9090"] {
        let run = Run::in_lab(modes()[0]).flag("--metrics").flag(wrong).words(&["true"]);
        assert_eq!(run.code, 2, "{wrong}: {run:#?}");
        run.must_complain("--metrics");
    }
}

/// The program's own messages are asked for by a variable, which the proxy hears of although its environment is empty.
#[test]
fn messages() {
    for (filter, code, told) in [("trace", 0, "TRACE"), ("closedbook=loud", 2, "CLOSEDBOOK_LOG")] {
        let run = run(modes()[0]);
        let words = python("get('/')\n");
        let mut command = run.command(&words.each_ref().map(String::as_str));
        let output = command.env("CLOSEDBOOK_LOG", filter).output().unwrap();
        let outcome = run.outcome(output);
        assert_eq!(outcome.code, code, "{outcome:#?}");
        outcome.must_complain(told);
    }
}
