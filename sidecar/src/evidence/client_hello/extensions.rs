//! The extensions of a ClientHello (RFC 8446 section 4.2).

use std::collections::HashSet;

use closedbook_policy::Hello;

use super::super::cursor::Cursor;
use super::{HelloError, Part, server_name};

const SERVER_NAME: u16 = 0;
/// encrypted_client_hello (RFC 9849).
const ECH: u16 = 0xfe0d;
/// encrypted_server_name, its forerunner, which some servers still answer.
const ESNI: u16 = 0xffce;

/// Walks the list to its end: a name found early says nothing about a second one further on.
pub(super) fn read(list: &[u8]) -> Result<Hello, HelloError> {
    let mut list = Cursor::new(list);
    let mut seen = HashSet::new();
    let mut hello = Hello { server_name: None, ech: false };
    while !list.is_empty() {
        let kind = list.u16().ok_or(HelloError::Ends(Part::Extension))?;
        let content = list.vector16().ok_or(HelloError::Ends(Part::Extension))?;
        if !seen.insert(kind) {
            return Err(HelloError::DuplicateExtension(kind));
        }
        match kind {
            SERVER_NAME => hello.server_name = Some(server_name::read(content)?),
            ECH | ESNI => hello.ech = true,
            _ => {}
        }
    }
    Ok(hello)
}
