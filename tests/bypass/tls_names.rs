//! Names in TLS that are not the permitted one, or that only look like it.
//!
//! Steps: connect to an address of the attacker; send a ClientHello whose server name is another host's, absent, in two
//! places, or written so that a careless reader takes it for the permitted one; the nonce is in the name or the session id.
//!
//! Guarantees: G1 (default deny), G3 (the name decides, not the address), G4 (no evidence, no passage), G11.

use crate::battery::{Attack, attack, attempt};

const DENIED: &[&str] = &["alert 49"];

const NAMES: &[Attack] =
    &[attack("another-name", "tcp(v4, 443, hello(sni(host)))", DENIED).logged("name-not-allowed")];

#[test]
fn names() {
    attempt("names", NAMES);
}
