//! Requests inside requests: each stream has a second request that somebody else could see, or none where we do.

use closedbook_policy::Reason::{self, HostMissing, HttpForm, HttpMalformed, HttpMethod, HttpUpgrade};

use super::super::MAX_TRAILERS;
use super::{accepted, refused, traced};

const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: b.example\r\n\r\n";

fn post(fields: &str, body: &str) -> Vec<u8> {
    format!("POST / HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n{body}").into_bytes()
}

fn chunked(body: &str) -> Vec<u8> {
    post("Transfer-Encoding: chunked\r\n", body)
}

/// G5: heads whose body could end in two places.
#[test]
fn ambiguous_heads() {
    for fields in [
        // CL.TE, TE.CL and their order.
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        // TE.TE.
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked,\r\n",
        "Transfer-Encoding: ,chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunkedx\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding: chunked;q=1\r\n",
        "Transfer-Encoding: chunked\t\r\n",
        "Transfer-Encoding: chunked \r\n",
        "Transfer-Encoding:\tchunked\r\n",
        "Transfer-Encoding:  chunked\r\n",
        "Transfer-Encoding:\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding\t: chunked\r\n",
        " Transfer-Encoding: chunked\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n",
        "X: y\nTransfer-Encoding: chunked\r\n",
        "X: y\rTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "Transfer_Encoding: chunked\r\n",
        "Transfer-Encoding: chun\x0bked\r\n",
        "Transfer-Encoding: chunked\0\r\n",
        // Content-Length.
        "Content-Length: 6\r\nContent-Length: 6\r\n",
        "Content-Length: 6\r\nContent-Length: 0\r\n",
        "Content-Length: 0\r\ncontent-length: 6\r\n",
        "Content-Length: 6, 6\r\n",
        "Content-Length: 5,5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: -0\r\n",
        "Content-Length: 05\r\n",
        "Content-Length: 00\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5.0\r\n",
        "Content-Length: 5e0\r\n",
        "Content-Length: 5 \r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length:  5\r\n",
        "Content-Length:\t5\r\n",
        "Content-Length:\r\n",
        "Content-Length: \r\n",
        "Content-Length : 5\r\n",
        "Content-Length: \u{0665}\r\n",
        "Content-Length: 9223372036854775808\r\n",
        "Content-Length: 18446744073709551615\r\n",
        "Content-Length: 18446744073709551621\r\n",
        "Content-Length: 99999999999999999999999999\r\n",
        "Content_Length: 5\r\n",
        "Content-Length: 5\r\n Content-Length: 0\r\n",
    ] {
        refused(&post(fields, HIDDEN), 0, HttpMalformed);
    }
    let old =
        format!("POST / HTTP/1.0\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}");
    refused(old.as_bytes(), 0, HttpMalformed);
}

/// G5: chunks that could end in two places. The head is in order, so what it asks for has been judged.
#[test]
fn ambiguous_chunks() {
    for body in [
        "1;a=b\r\nx\r\n0\r\n\r\n",
        "1;\r\nx\r\n0\r\n\r\n",
        "1 ;a\r\nx\r\n0\r\n\r\n",
        "1 \r\nx\r\n0\r\n\r\n",
        "1\t\r\nx\r\n0\r\n\r\n",
        " 1\r\nx\r\n0\r\n\r\n",
        "1;a\nx\r\n0\r\n\r\n",
        "1\nx\r\n0\r\n\r\n",
        "1\rx\r\n0\r\n\r\n",
        "1\r\rx",
        "\r\n1\r\nx\r\n",
        "\r\n",
        "+1\r\nx\r\n",
        "-1\r\nx\r\n",
        "0x1\r\nx\r\n",
        "1_0\r\nx\r\n",
        "g\r\nx\r\n",
        "1,1\r\nx\r\n",
        "\0\r\n",
        "00000000000000001\r\nx\r\n",
        "8000000000000000\r\n",
        "ffffffffffffffff\r\n",
        "10000000000000000\r\n",
        "1\r\nxy\r\n0\r\n\r\n",
        "1\r\nx0\r\n\r\n",
        "1\r\nx\n0\r\n\r\n",
        "1\r\nx\r0\r\n\r\n",
        "1\r\nx\r\r\n0\r\n\r\n",
        "3\r\nx\r\n0\r\n\r\n",
        "0\r\nX\r\n\r\n",
        "0\r\n: a\r\n\r\n",
        "0\r\nX : a\r\n\r\n",
        "0\r\n X: a\r\n\r\n",
        "0\r\nX: a\r\n b\r\n\r\n",
        "0\r\nX: a\n\r\n",
        "0\r\nX: a\r\n\n",
        "0\r\nX: \0\r\n\r\n",
        "0\r\n\n",
        "0\r\n\r\r\n",
        "0\n\n",
        // A second request that some take for trailers, and trailers that some take for a head.
        "0\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n",
        "0\r\nHost: b.example\r\n\r\n",
        "0\r\nContent-Length: 5\r\n\r\n",
        "0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "0\r\nX: a\r\nTransfer_Encoding: chunked\r\n\r\n",
        "0\r\nConnection: close\r\n\r\n",
        "0\r\nUpgrade: h2c\r\n\r\n",
        "0\r\nTE: trailers\r\n\r\n",
        "0\r\nTrailer: x\r\n\r\n",
        "0\r\nAuthorization: Basic YTpi\r\n\r\n",
        "0\r\nCookie: a=b\r\n\r\n",
        "0\r\nContent-Type: text/plain\r\n\r\n",
        "0\r\nExpect: 100-continue\r\n\r\n",
    ] {
        let stream = chunked(&format!("{body}{HIDDEN}"));
        refused(&stream, 1, HttpMalformed);
        // Nothing of the hidden request was handed on.
        let hidden = stream.len() - HIDDEN.len();
        assert!(traced(&stream).handed_on <= hidden, "{body:?}");
    }
}

/// G5: what comes after a request whose end is clear is the next request, and judged as one.
#[test]
fn after_the_end() {
    let cases: [(Vec<u8>, Reason); 14] = [
        // CL.0, and bodies where some servers expect none.
        (post("Content-Length: 0\r\n", "x=1\r\n"), HttpMalformed),
        (post("", "GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"), HttpForm),
        (post("Content-Length: 1\r\n", "xCONNECT b.example:443 HTTP/1.1\r\n\r\n"), HttpMethod),
        (post("Content-Length: 1\r\n", "xPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), HttpMethod),
        (post("Content-Length: 1\r\n", "x\r\nGET / HTTP/1.1\r\n"), HttpMalformed),
        (post("Content-Length: 1\r\n", "xGET / HTTP/1.1\r\n\r\n"), HostMissing),
        (
            post("Content-Length: 1\r\n", "xGET / HTTP/1.1\r\nHost: b.example\r\nUpgrade: h2c\r\n"),
            HttpUpgrade,
        ),
        (post("Content-Length: 1\r\n", "x\x16\x03\x01"), HttpMalformed),
        (chunked("0\r\n\r\nGET /\r\n"), HttpMalformed),
        (chunked("0\r\n\r\n0\r\n\r\n"), HttpMalformed),
        (chunked("0\r\n\r\nGET http://b.example/ HTTP/1.1\r\n"), HttpForm),
        (chunked("0\r\nX: a\r\n\r\nCONNECT b.example:443 HTTP/1.1\r\n"), HttpMethod),
        (b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\nxGET / HTTP/1.1 \r\n".to_vec(), HttpMalformed),
        (b"HEAD / HTTP/1.0\r\nHost: a.example\r\n\r\n\0".to_vec(), HttpMalformed),
    ];
    for (stream, reason) in cases {
        refused(&stream, 1, reason);
    }
}

/// G5: the second request of a kept or pipelined connection is seen with its own host.
#[test]
fn host_switches() {
    let first = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
    let streams = [
        format!("{first}{HIDDEN}").into_bytes(),
        post("Content-Length: 4\r\n", &format!("abcd{HIDDEN}")),
        post("Content-Length: 0\r\n", HIDDEN),
        chunked(&format!("0\r\n\r\n{HIDDEN}")),
        chunked(&format!("0000000000000000\r\n\r\n{HIDDEN}")),
        chunked(&format!("A\r\n0123456789\r\n0\r\n\r\n{HIDDEN}")),
        chunked(&format!("0a\r\n0123456789\r\n2\r\n\r\n\r\n0\r\n\r\n{HIDDEN}")),
        chunked(&format!("1\r\nx\r\n0\r\nX-Checksum: 1\r\nX: {}\r\n\r\n{HIDDEN}", "y".repeat(4000))),
        post("Transfer-Encoding: Chunked\r\n", &format!("0\r\n\r\n{HIDDEN}")),
    ];
    for stream in streams {
        let hosts: Vec<_> = accepted(&stream).iter().map(|request| request.host.to_string()).collect();
        assert_eq!(hosts, ["a.example", "b.example"]);
    }
    // A request inside a body is body.
    for stream in [
        post(&format!("Content-Length: {}\r\n", HIDDEN.len()), HIDDEN),
        chunked(&format!("{:x}\r\n{HIDDEN}\r\n0\r\n\r\n", HIDDEN.len())),
    ] {
        assert_eq!(accepted(&stream).len(), 1);
    }
    let five = HIDDEN.repeat(5);
    assert_eq!(accepted(five.as_bytes()).len(), 5);
}

/// G16: trailers have bounds of their own.
#[test]
fn trailers() {
    let of =
        |size: usize| chunked(&format!("0\r\nX: {}\r\n\r\n{HIDDEN}", "x".repeat(size - "X: \r\n\r\n".len())));
    assert_eq!(accepted(&of(MAX_TRAILERS)).len(), 2);
    refused(&of(MAX_TRAILERS + 1), 1, HttpMalformed);
    refused(&chunked(&format!("0\r\n{}\r\n", "X: y\r\n".repeat(129))), 1, HttpMalformed);
    // Not an octet of trailers goes on before all of them are in order.
    let trace = traced(&chunked("1\r\nx\r\n0\r\nX: a\r\nHost: b"));
    assert_eq!(trace.handed_on, chunked("1\r\nx\r\n0\r\n").len());
}
