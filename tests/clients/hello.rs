//! ClientHellos in every shape that a path between client and server could give them.

use crate::support::modes;
use crate::{python, run};

/// G4, G12: one octet at a time, over many records, over 16 KiB: the name is found, and the server gets the same octets
/// (or the handshake would fail).
#[test]
fn any_split_and_size() {
    for &mode in modes() {
        let run = python(run(mode), include_str!("programs/hello.py"))
            .must_succeed()
            .must_print("one octet a segment: api.anthropic.com\n")
            .must_print("one octet a record: api.anthropic.com\n")
            .must_print("seven octets a record: api.anthropic.com\n")
            .must_print("three a record, one a segment: api.anthropic.com\n")
            .must_print("padded: api.anthropic.com True\n");
        assert_eq!(run.of_kind("tls").len(), 5, "{run:#?}");
    }
}
