//! The HTTP clients of languages, each with a TLS implementation of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run;
use crate::support::{self, installed, modes};

/// G1, G11, G12.
#[test]
fn python_urllib() {
    for &mode in modes() {
        run(mode)
            .python(include_str!("programs/urllib_client.py"))
            .must_succeed()
            .must_print(
                r#"allowed: {"host":"api.anthropic.com","sni":"api.anthropic.com","path":"/by-urllib""#,
            )
            .must_print("other: <urlopen error [Errno -2] Name or service not known>")
            .must_print("alert access denied")
            .must_print("plain: HTTP Error 403: Forbidden")
            .must_record(2, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
    }
}

/// G1, G11, G12: one connection for a whole session, a streamed answer, an upload.
#[test]
fn python_requests() {
    for &mode in modes() {
        let run = run(mode).python(include_str!("programs/requests_client.py")).must_succeed();
        let lines =
            |start: &str| run.stdout.lines().filter(|line| line.starts_with(start)).collect::<Vec<_>>();
        let peers = lines("allowed:").iter().map(|line| line.rsplit_once(' ').unwrap().1).collect::<Vec<_>>();
        assert!(peers.len() == 3 && peers.iter().all(|peer| *peer == peers[0]), "one connection: {run:#?}");
        assert_eq!(run.of_kind("tls").len(), 2, "{run:#?}");
        run.must_print("allowed: api.anthropic.com api.anthropic.com /turn-2")
            .must_print("events: 9")
            .must_print("upload: 100000")
            .must_print("Name or service not known")
            .must_print("alert access denied")
            .must_print("plain: 403")
            .must_record(2, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
    }
}

/// G1, G11, G12: fetch (undici) and https.
#[test]
fn node() {
    for &mode in modes() {
        run(mode)
            .words(&["node", "--input-type=module", "-e", include_str!("programs/fetch.mjs")])
            .must_succeed()
            .must_print(r#"fetch: {"host":"api.anthropic.com","sni":"api.anthropic.com","path":"/by-fetch""#)
            .must_print(r#"https: {"host":"api.anthropic.com","sni":"api.anthropic.com","path":"/by-https""#)
            .must_print("other: ENOTFOUND")
            .must_print("alert access denied")
            .must_print("stream: event: message_stop")
            .must_record(1, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
    }
}

/// G1, G11, G12: rustls, HTTP/1.1 and HTTP/2.
#[test]
fn rust() {
    let folder = support::open_folder();
    let program = support::program_in(&folder);
    let program = program.to_str().unwrap();
    for &mode in modes() {
        let script = format!(
            "set -e
             load() {{ {program} lab load --json --url \"$@\"; }}
             load https://api.anthropic.com/bytes/300000 --bytes --requests 5
             load https://api.anthropic.com/upload --upload 300000 --http2 --requests 5
             load http://api.anthropic.com/bytes/300000 --bytes --requests 5
             ! load https://example.com/"
        );
        let run = run(mode).script(&script).must_succeed();
        assert_eq!(run.stdout.matches(r#""checked":5,"equal":5"#).count(), 3, "{run:#?}");
        run.must_complain("can't resolve example.com").must_not_arrive("example.com");
    }
}

/// G1, G11, G12: Go's own TLS and, built without cgo, its own resolver.
#[test]
fn go() {
    if !installed("go") {
        return;
    }
    let folder = support::open_folder();
    let client = folder.path().join("client");
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&client).arg(source("client.go"));
    // Kept between runs of the tests: half of the standard library is compiled.
    go.env("GOCACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/go-cache"));
    compile(go.envs([("GOFLAGS", "-mod=mod"), ("GOPROXY", "off"), ("CGO_ENABLED", "0")]));
    let client = client.to_str().unwrap();
    for &mode in modes() {
        let script = format!(
            "set -e
             {client} https://api.anthropic.com/
             ! {client} https://example.com/
             ! {client} https://example.com/ 198.51.100.7:443
             {client} http://example.com/ 198.51.100.7:80"
        );
        run(mode)
            .script(&script)
            .must_succeed()
            .must_print(r#"{"host":"api.anthropic.com","sni":"api.anthropic.com","path":"/""#)
            .must_complain("no such host")
            .must_complain("remote error: tls: access denied")
            .must_print("reason: name-not-allowed")
            .must_record(2, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
    }
}

/// G1, G11, G12: the JDK's TLS, HTTP/2.
#[test]
fn java() {
    if !installed("javac") {
        return;
    }
    let folder = support::open_folder();
    compile(Command::new("javac").arg("-d").arg(folder.path()).arg(source("Client.java")));
    let folder = folder.path().to_str().unwrap();
    for &mode in modes() {
        let script = format!(
            "set -e
             client() {{ java -XX:TieredStopAtLevel=1 -Xshare:auto -cp {folder} Client \"$@\"; }}
             client api.anthropic.com
             ! client example.com
             ! client example.com 198.51.100.7"
        );
        run(mode)
            .script(&script)
            .must_succeed()
            .must_print(r#"{"host":"api.anthropic.com","sni":"api.anthropic.com","path":"/""#)
            .must_print(r#""version":"HTTP/2.0""#)
            .must_complain("java.net.ConnectException")
            .must_complain("Received fatal alert: access_denied")
            .must_record(1, "deny", "name-not-allowed")
            .must_not_arrive("example.com");
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/programs").join(name)
}

fn compile(compiler: &mut Command) {
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{compiler:?}: {}", String::from_utf8_lossy(&output.stderr));
}
