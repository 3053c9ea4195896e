//! Plain HTTP as clients speak it: what the proxy judges and re-serialises comes out as it went in.

use crate::support::modes;
use crate::{python, run};

/// G5, G12: fifty requests on one connection, five in one write, HEAD, chunked bodies, trailers, 30 KB of fields,
/// HTTP/1.0, `Connection: close`. Each request is one record (G13).
#[test]
fn requests_in_a_row() {
    for &mode in modes() {
        let run = python(run(mode), include_str!("programs/requests_in_a_row.py"))
            .must_succeed()
            .must_print("kept: 50 over 1\n")
            .must_print("pipelined: [(200, 200000), (200, 20), (404, 14), (200, 3)] /last\n")
            .must_print("head: 200 1000 b''\n")
            .must_print("chunked: 11 True\n")
            .must_print("trailers: 11\n")
            .must_print("30 KB of fields: 30000\n")
            .must_print("as written: /a%20b/%2e%2e/;p=1 ['a=b', 'c=d']\n")
            .must_print("method: OPTIONS\nmethod: DELETE\nmethod: PATCH\nmethod: PROPFIND\n")
            .must_print("1.0: 200 /old True\n")
            .must_print("close: 200 close True\n");
        let requests = run.of_kind("http");
        assert_eq!(requests.len(), 66, "{run:#?}");
        assert!(requests.iter().all(|record| record["verdict"] == "allow"), "{run:#?}");
    }
}

/// G12: `100 Continue` and `103 Early Hints` are passed on at once, a body is sent only when it is welcome, and all of
/// it is the same over TLS.
#[test]
fn interim_answers() {
    for &mode in modes() {
        let run = python(run(mode), include_str!("programs/interim.py")).must_succeed();
        for (line, what) in [
            ("word: ['HTTP/1.1 100 Continue']\n", "the server's word"),
            ("expect: 200 100000\n", "and the body after it"),
            ("refused: HTTP/1.1 417 Expectation Failed\n", "the server's no"),
            ("early: HTTP/1.1 103 Early Hints ['link: </style.css>; rel=preload; as=style']\n", "RFC 8297"),
            ("then: 200 b'the page\\n'\n", "the answer itself"),
        ] {
            assert_eq!(run.stdout.matches(line).count(), 2, "{what}: {run:#?}");
        }
    }
}

/// G12: curl asks before it sends a body of its size.
#[test]
fn expect_100_continue_of_curl() {
    for &mode in modes() {
        let run = run(mode)
            .script(
                "for scheme in http https; do
                     head -c 3000000 /dev/zero | curl -sSv --http1.1 --fail -H 'Expect: 100-continue' \
                         --expect100-timeout 50 -T - $scheme://api.anthropic.com/expect || exit 1
                 done",
            )
            .must_succeed();
        assert_eq!(run.stdout.matches(r#"{"bytes":3000000,"#).count(), 2, "{run:#?}");
        assert_eq!(run.stderr.matches("< HTTP/1.1 100 Continue").count(), 2, "{run:#?}");
    }
}

/// G12: a server that breaks off is seen to break off; nothing looks like a whole answer.
#[test]
fn servers_that_break_off() {
    for &mode in modes() {
        let run = python(run(mode), include_str!("programs/broken_off.py")).must_succeed();
        assert_eq!(run.stdout.matches("broken: ").count(), 2, "{run:#?}");
        assert_eq!(run.stdout.matches("nothing: True").count(), 2, "{run:#?}");
        assert_eq!(run.of_kind("http").len() + run.of_kind("tls").len(), 4, "{run:#?}");
    }
}
