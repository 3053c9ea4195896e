//! What client and server say to each other: the hello of a real client, and then messages that come back.

use crate::Result;

/// The host that stays permitted.
pub(crate) const KEPT: &str = "api.anthropic.com";
/// The host that the second phase lacks. As long as the other, so that it fits into the recorded hello.
pub(crate) const CUT: &str = "www.notallowed.io";
/// Where the first is served: none of the lab's own ports.
pub(crate) const KEPT_PORT: u16 = 7101;
/// Where the second is.
pub(crate) const CUT_PORT: u16 = 7102;
/// An address of the lab; every other one would do.
pub(crate) const SERVER: &str = "198.51.100.1";
/// Length of a message.
pub(crate) const MESSAGE: usize = 64;

/// rustls with a post-quantum key share, 1.5 KB in one record.
pub(crate) const HELLO: &[u8] = include_bytes!("../../sidecar/tests/hellos/rustls.bin");

/// The same hello with the name of the other host in it.
pub(crate) fn other_hello() -> Result<Vec<u8>> {
    let name = KEPT.as_bytes();
    let at = HELLO.windows(name.len()).position(|window| window == name).ok_or("no name in the hello")?;
    let mut hello = HELLO.to_vec();
    let place = hello.get_mut(at..at + name.len()).ok_or("no name in the hello")?;
    place.iter_mut().zip(CUT.bytes()).for_each(|(old, new)| *old = new);
    Ok(hello)
}

/// A message that no other connection sends, and this one not twice.
pub(crate) fn message(flow: usize, number: u64) -> [u8; MESSAGE] {
    let mut message = [b'.'; MESSAGE];
    let text = format!("flow {flow} message {number} ");
    message.iter_mut().zip(text.bytes()).for_each(|(old, new)| *old = new);
    message
}
