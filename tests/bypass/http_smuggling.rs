//! Requests with two readings, one of which hides a request for another host.
//!
//! Steps: send a request to the permitted host whose length can be read in two ways; what one reader takes for the body
//! another takes for the next request, and that names a host of the attacker, with the nonce.
//!
//! Guarantees: G4, G5 (ambiguous framing is refused; what is forwarded is re-serialised), G11, G16. The control shows
//! that the hidden request by itself would arrive.

use crate::battery::{Attack, attack, attempt};

const fn refused(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 400"]).logged("http-malformed").control("web(v4, 80, hidden())")
}

const LENGTHS: &[Attack] = &[
    refused(
        "CL.TE",
        "smuggle('Content-Length: 6', 'Transfer-Encoding: chunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused("TE.CL", "smuggle('Transfer-Encoding: chunked', 'Content-Length: 4', body=chunks(hidden()))"),
    refused(
        "CL.TE with CL 0",
        "smuggle('Content-Length: 0', 'Transfer-Encoding: chunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "two lengths, the same",
        "smuggle('Content-Length: 3', 'Content-Length: 3', body=b'abc' + hidden())",
    ),
    refused(
        "two lengths, different",
        "smuggle('Content-Length: 3', 'Content-Length: 300', body=b'abc' + hidden())",
    ),
    refused("two lengths in one field", "smuggle('Content-Length: 3, 300', body=b'abc' + hidden())"),
    refused("the same length twice in one field", "smuggle('Content-Length: 3, 3', body=b'abc' + hidden())"),
    refused("a length with a plus", "smuggle('Content-Length: +3', body=b'abc' + hidden())"),
    refused("a length with a minus", "smuggle('Content-Length: -3', body=b'abc' + hidden())"),
    refused("a hexadecimal length", "smuggle('Content-Length: 0x3', body=b'abc' + hidden())"),
    refused("an underscore in a length", "smuggle('Content-Length: 3_0', body=b'abc' + hidden())"),
    refused("a blank in a length", "smuggle('Content-Length: 3 0', body=b'abc' + hidden())"),
    refused("an empty length", "smuggle('Content-Length: ', body=b'abc' + hidden())"),
    refused(
        "a length beyond 64 bits",
        "smuggle('Content-Length: 18446744073709551619', body=b'abc' + hidden())",
    ),
    refused("a length with a point", "smuggle('Content-Length: 3.0', body=b'abc' + hidden())"),
    refused("a length in quotes", "smuggle('Content-Length: \"3\"', body=b'abc' + hidden())"),
    refused("a tab before a length", "smuggle('Content-Length:\\t\\t3', body=b'abc' + hidden())"),
    refused("a blank before the colon", "smuggle('Content-Length : 3', body=b'abc' + hidden())"),
    refused(
        "an underscore in the name",
        "smuggle('Content_Length: 300', 'Content-Length: 3', body=b'abc' + hidden())",
    ),
    refused("a NUL in the name", "smuggle('Content-Length\\0: 3', body=b'abc' + hidden())"),
    refused("a line without a colon", "smuggle('Content-Length 3', body=b'abc' + hidden())"),
    refused("a folded length", "smuggle('Content-Length:\\r\\n 3', body=b'abc' + hidden())"),
    refused("a bare line feed in the head", "smuggle('X: y\\nContent-Length: 3', body=b'abc' + hidden())"),
    refused(
        "a bare carriage return in the head",
        "smuggle('X: y\\rContent-Length: 3', body=b'abc' + hidden())",
    ),
    refused(
        "lines that end in a line feed",
        "tcp(v4, 80, *segments(get(GOOD, path='/').replace(b'\\r\\n', b'\\n') + hidden()))",
    ),
    refused("a Host in a bare line", "smuggle('X: y\\nHost: ' + host, body=b'')"),
];

const CODINGS: &[Attack] = &[
    refused(
        "chunked twice",
        "smuggle('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "chunked and identity",
        "smuggle('Transfer-Encoding: chunked, identity', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "identity and chunked",
        "smuggle('Transfer-Encoding: identity, chunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "identity in another field",
        "smuggle('Transfer-Encoding: chunked', 'Transfer-Encoding: identity', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "gzip and chunked",
        "smuggle('Transfer-Encoding: gzip, chunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused("xchunked", "smuggle('Transfer-Encoding: xchunked', body=b'0\\r\\n\\r\\n' + hidden())"),
    refused(
        "chunked with a tab behind",
        "smuggle('Transfer-Encoding: chunked\\t', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "chunked with a tab before",
        "smuggle('Transfer-Encoding:\\tchunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "chunked with a vertical tab",
        "smuggle('Transfer-Encoding: \\x0bchunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "chunked with a parameter",
        "smuggle('Transfer-Encoding: chunked;q=1', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "chunked in quotes",
        "smuggle('Transfer-Encoding: \"chunked\"', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "a blank before the colon",
        "smuggle('Transfer-Encoding : chunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "an underscore in the name",
        "smuggle('Transfer_Encoding: chunked', 'Content-Length: 5', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "a folded coding",
        "smuggle('Transfer-Encoding:\\r\\n chunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "chunked in HTTP/1.0",
        "smuggle('Transfer-Encoding: chunked', body=b'0\\r\\n\\r\\n' + hidden(), version='HTTP/1.0')",
    ),
    refused(
        "chunked hidden by Connection",
        "smuggle('Connection: Transfer-Encoding', 'Transfer-Encoding: chunked', body=b'0\\r\\n\\r\\n' + hidden())",
    ),
    refused(
        "length hidden by Connection",
        "smuggle('Connection: Content-Length', 'Content-Length: 3', body=b'abc' + hidden())",
    ),
];

/// The head is in order and is passed on; the fault is in the body, and the hidden request must not follow.
const fn in_body(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 400", "eof", "ECONNRESET"]).control("web(v4, 80, hidden())")
}

const CHUNKS: &[Attack] = &[
    in_body(
        "a chunk extension",
        "smuggle('Transfer-Encoding: chunked', body=b'3;a=b\\r\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a chunk extension with a line feed",
        "smuggle('Transfer-Encoding: chunked', body=b'3;\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a size with a blank",
        "smuggle('Transfer-Encoding: chunked', body=b'3 \\r\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a size with a tab before",
        "smuggle('Transfer-Encoding: chunked', body=b'\\t3\\r\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a size with 0x",
        "smuggle('Transfer-Encoding: chunked', body=b'0x3\\r\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a size with a plus",
        "smuggle('Transfer-Encoding: chunked', body=b'+3\\r\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a size with an underscore",
        "smuggle('Transfer-Encoding: chunked', body=b'0_3\\r\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a size beyond 64 bits",
        "smuggle('Transfer-Encoding: chunked', body=b'10000000000000003\\r\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "an empty size",
        "smuggle('Transfer-Encoding: chunked', body=b'\\r\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a size that ends in a line feed",
        "smuggle('Transfer-Encoding: chunked', body=b'3\\nabc\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "data longer than its size",
        "smuggle('Transfer-Encoding: chunked', body=b'3\\r\\nabcdef\\r\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "data that ends in a line feed",
        "smuggle('Transfer-Encoding: chunked', body=b'3\\r\\nabc\\n0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "data that ends in two other octets",
        "smuggle('Transfer-Encoding: chunked', body=b'3\\r\\nabcXX0\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a Host in the trailers",
        "smuggle('Transfer-Encoding: chunked', body=b'0\\r\\nHost: ' + host.encode() + b'\\r\\n\\r\\n')",
    ),
    in_body(
        "a length in the trailers",
        "smuggle('Transfer-Encoding: chunked', body=b'0\\r\\nContent-Length: 300\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "a coding in the trailers",
        "smuggle('Transfer-Encoding: chunked', body=b'0\\r\\nTransfer-Encoding: x\\r\\n\\r\\n' + hidden())",
    ),
    in_body(
        "trailers that end in a line feed",
        "smuggle('Transfer-Encoding: chunked', body=b'0\\r\\nX: y\\n\\n' + hidden())",
    ),
    in_body(
        "a last chunk without its end",
        "smuggle('Transfer-Encoding: chunked', body=b'0\\r\\n' + hidden())",
    ),
];

#[test]
fn lengths_with_two_readings() {
    attempt("lengths with two readings", LENGTHS);
}

#[test]
fn codings_with_two_readings() {
    attempt("codings with two readings", CODINGS);
}

#[test]
fn chunks_with_two_readings() {
    attempt("chunks with two readings", CHUNKS);
}
