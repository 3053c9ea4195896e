//! Entries of every form, in policy files and on the command line, as clients feel them.

use serde_json::Value;

use crate::support::{Run, modes};
use crate::{in_each_mode, python, with_policy};

/// G3, G4, G12: a `tcp://` entry carries a server that speaks first, on its own port only; each octet is counted once
/// (G13).
#[test]
fn a_server_that_speaks_first() {
    const TALK: &str = r#"
for port in (22, 25):
    talk = Talk('github.com', port)
    print('banner:', talk.file.readline()[:10])
    talk.say(b'neither TLS nor HTTP ' * 10_000)
    talk.wire.shutdown(socket.SHUT_WR)
    print('echoed:', talk.file.read().count(b'neither TLS nor HTTP '))

# Client first, and counted to the last octet.
talk = Talk('github.com', 9000).say(b'x' * 100_000)
talk.wire.shutdown(socket.SHUT_WR)
print('counted:', len(talk.file.read()))

# Another port of the same name, and the same port by an address that was not given out for the name.
for name, port in (('github.com', 110), ('198.51.100.9', 22)):
    try:
        print('banner?', Talk(name, port).file.readline())
    except ConnectionResetError:
        print('reset:', name, port)
"#;
    for &mode in modes() {
        let run = Run::in_lab(mode).allow("tcp://github.com:22,25,9000");
        let run = python(run, TALK)
            .must_succeed()
            .must_print("banner: b'LAB-BANNER'\nechoed: 10000\nbanner: b'LAB-BANNER'\nechoed: 10000\n")
            .must_print("reset: github.com 110\nreset: 198.51.100.9 22\n")
            .must_record(1, "deny", "port-not-allowed");
        let counted = run.log.iter().find(|record| record["port"] == 9000).unwrap();
        let received = format!("counted: {}\n", counted["bytes_down"]);
        assert!(run.stdout.contains(&received), "{run:#?}");
        assert_eq!(counted["bytes_up"], 100_000, "{run:#?}");
        assert_eq!(counted["rule"], "tcp://github.com:22,25,9000", "{run:#?}");
        assert!(!run.witness.iter().any(|arrival| arrival["local_port"] == 110), "{run:#?}");
    }
}

/// G3: routes change where a permitted name is dialled, and nothing that the client or the server sees of the name.
#[test]
fn routes() {
    for &mode in modes() {
        let run = with_policy(
            Run::in_lab(mode),
            "schema = 1
             [phase.agent]
             allow = ['api.anthropic.com', 'pypi.org']
             [route]
             'api.anthropic.com' = '10.0.0.5:8443'
             'pypi.org' = 'example.org:8080'",
        );
        run.script(
            "curl -sS --fail https://api.anthropic.com/routed && curl -sS --fail http://pypi.org/routed || exit 1
             # Where a route leads is no name that may be asked for.
             curl -sS --fail --resolve example.org:8080:198.51.100.9 http://example.org:8080/ && exit 1
             true",
        )
        .must_succeed()
        .must_print(r#"{"host":"api.anthropic.com","sni":"api.anthropic.com","path":"/routed""#)
        .must_print(r#""local":"10.0.0.5:8443""#)
        .must_print(r#"{"host":"pypi.org","sni":null,"path":"/routed""#)
        .must_print(":8080\"")
        .must_record(1, "deny", "port-not-allowed")
        .must_not_arrive("GET / ");
    }
}

/// G1: wildcards mean what is below them, ports mean those ports, and what an entry does not say it does not allow.
#[test]
fn wildcards_and_ports() {
    for &mode in modes() {
        let run = with_policy(
            Run::in_lab(mode),
            "schema = 1
             [phase.setup]
             allow = ['example.com']
             [phase.agent]
             allow = ['*.ubuntu.com:80', '*.anthropic.com:443', 'pypi.org:8000-8080']",
        );
        let run = run.script(
            "get() { curl -sS --connect-to ::198.51.100.9: \"$@\" -o /dev/null -w \"%{url} %{http_code}\\n\"; }
             get http://archive.ubuntu.com/
             get https://archive.ubuntu.com/
             get http://ubuntu.com/
             get https://api.anthropic.com/
             get https://sub.api.anthropic.com/
             get https://anthropic.com/
             get https://evilanthropic.com/
             get https://api.anthropic.com.evil.test/
             get http://pypi.org:8080/
             get https://pypi.org:8000/
             get https://pypi.org/
             get https://example.com/
             true",
        );
        let run = run.must_succeed();
        for (url, status) in [
            ("http://archive.ubuntu.com/", "200"),
            ("https://archive.ubuntu.com/", "000"),
            ("http://ubuntu.com/", "403"),
            ("https://api.anthropic.com/", "200"),
            ("https://sub.api.anthropic.com/", "200"),
            ("https://anthropic.com/", "000"),
            ("https://evilanthropic.com/", "000"),
            ("https://api.anthropic.com.evil.test/", "000"),
            ("http://pypi.org:8080/", "200"),
            ("https://pypi.org:8000/", "200"),
            ("https://pypi.org/", "000"),
            ("https://example.com/", "000"),
        ] {
            assert!(run.stdout.contains(&format!("{url} {status}\n")), "{url} {status}: {run:#?}");
        }
        assert_eq!(run.stderr.matches("alert access denied").count(), 6, "{run:#?}");
        let denied = run.log.iter().filter(|record| record["verdict"] == "deny").count();
        assert_eq!(denied, 7, "one record each: {run:#?}");
    }
}

/// G1, G3: an address entry is for clients that name no host; one that names a host needs an entry for the name.
#[test]
fn addresses() {
    for &mode in modes() {
        let run = with_policy(
            Run::in_lab(mode),
            "schema = 1
             [phase.agent]
             allow = ['198.51.100.0/24', '[2001:db8::/32]:443,8443']",
        );
        run.script(
            "set -e
             curl -sSk --fail https://198.51.100.9/v4
             curl -sS --fail http://198.51.100.10/v4
             curl -sSk --fail https://[2001:db8::7]:8443/v6
             ! curl -sSk https://203.0.113.9/other
             ! curl -sSk https://198.51.100.9:8443/other
             ! curl -sSk --resolve example.com:443:198.51.100.9 https://example.com/other
             curl -sS -H 'Host: example.com' http://198.51.100.9/other
             curl -sS http://[2001:db8::7]/other",
        )
        .must_succeed()
        .must_print(r#"{"host":"198.51.100.9","sni":null,"path":"/v4""#)
        .must_print(r#"{"host":"198.51.100.10","sni":null,"path":"/v4""#)
        .must_print(r#""local":"[2001:db8::7]:8443""#)
        .must_record(2, "deny", "name-not-allowed")
        .must_not_arrive("/other");
    }
}

/// G9: an allowed name that leads to an address of the inside is not dialled, by whatever way it leads there; unless
/// the policy says that private ones may be, and then those alone.
#[test]
fn names_that_lead_inside() {
    const NAMES: [&str; 9] = [
        "private.test",
        "mapped.test",
        "alias-private.test",
        "metadata.test",
        "loopback.test",
        "unspecified.test",
        "linklocal.test",
        "synthetic.test",
        "rebind.test",
    ];
    const SCRIPT: &str = "for name in $NAMES; do
             for scheme in https http; do
                 curl -sS -o /dev/null -w \"$scheme://$name %{http_code}\\n\" $scheme://$name/ 2>&1
             done
         done";
    for &mode in modes() {
        for private in ["refuse", "allow"] {
            let policy = format!(
                "schema = 1\n[resolve]\nprivate = '{private}'\n[phase.agent]\nallow = ['{}']",
                NAMES.join("', '")
            );
            let script = format!("NAMES='{}'\n{SCRIPT}", NAMES.join(" "));
            let run = with_policy(Run::in_lab(mode), &policy).script(&script);
            let private_answers = if private == "allow" { ["200", "200"] } else { ["000", "403"] };
            for name in NAMES {
                let [tls, plain] = match name {
                    "private.test" | "mapped.test" | "alias-private.test" => private_answers,
                    // By turns at an address that may be dialled.
                    "rebind.test" if private == "refuse" => ["200", "403"],
                    "rebind.test" => ["200", "200"],
                    _ => ["000", "403"],
                };
                assert!(run.stdout.contains(&format!("https://{name} {tls}\n")), "{name}: {run:#?}");
                assert!(run.stdout.contains(&format!("http://{name} {plain}\n")), "{name}: {run:#?}");
            }
            let inside = run.witness.iter().filter(|arrival| arrival["local"] == "10.0.0.5").count();
            assert_eq!(inside > 0, private == "allow", "{run:#?}");
        }
    }
}

/// G11, G12: of several addresses the living one is found; a name without any gets an answer that says so.
#[test]
fn names_that_are_in_trouble() {
    in_each_mode(|mode| {
        let names = ["many", "half", "v6only", "v4only", "alias"];
        let broken = ["nxdomain", "servfail", "refused", "empty", "timeout", "dead"];
        let run = names
            .iter()
            .chain(&broken)
            .fold(Run::in_lab(mode), |run, name| run.allow(&format!("{name}.test")));
        let script = format!(
            "for name in {} {}; do
                 for scheme in https http; do
                     {{ said=$(curl -sS -o /dev/null -w \"$scheme $name %{{http_code}}\" $scheme://$name.test/ 2>&1)
                        echo \"$said\"; }} &
                 done
             done
             wait",
            names.join(" "),
            broken.join(" ")
        );
        let run = run.script(&script).must_succeed();
        for name in names {
            assert!(run.stdout.contains(&format!("https {name} 200\n")), "{name}: {run:#?}");
            assert!(run.stdout.contains(&format!("http {name} 200\n")), "{name}: {run:#?}");
        }
        for name in broken {
            assert!(run.stdout.contains(&format!("https {name} 000\n")), "{name}: {run:#?}");
            assert!(run.stdout.contains(&format!("http {name} 502\n")), "{name}: {run:#?}");
        }
        assert_eq!(run.stdout.matches("Connection reset by peer").count(), broken.len(), "{run:#?}");
        for name in broken {
            let named = |record: &&Value| record["name"] == format!("{name}.test") && record["kind"] != "dns";
            let reasons: Vec<_> = run.log.iter().filter(named).map(|record| &record["reason"]).collect();
            match name {
                "dead" => assert_eq!(reasons, ["dial-failed"; 2], "{run:#?}"),
                // The time for resolving and dialling together may end first.
                "timeout" => assert_eq!(reasons.len(), 2, "{run:#?}"),
                _ => assert_eq!(reasons, ["resolve-failed"; 2], "{run:#?}"),
            }
        }
    });
}
