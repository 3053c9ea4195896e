//! The OPT record of EDNS (RFC 6891 section 6.1).

use super::super::cursor::Cursor;
use super::{DnsError, OPT};

/// What a client says about itself with EDNS. Its options are read over: client subnets and cookies serve a server
/// that answers many, and padding is for encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edns {
    /// Octets of the largest UDP answer that the client takes, as it says.
    pub udp_size: u16,
    /// Whether the client wants signatures; there are none to give.
    pub dnssec_ok: bool,
}

/// Reads the one record that may follow the question.
pub(super) fn read(message: &mut Cursor<'_>) -> Result<Edns, DnsError> {
    let root = message.u8().ok_or(DnsError::Opt)?;
    let kind = message.u16();
    if root != 0 || kind != Some(OPT) {
        return Err(DnsError::Records);
    }
    let udp_size = message.u16().ok_or(DnsError::Opt)?;
    let [_rcode, version, flags, _reserved] = message.u32().ok_or(DnsError::Opt)?.to_be_bytes();
    let mut options = Cursor::new(message.vector16().ok_or(DnsError::Opt)?);
    // Another version may have other options, but answers to it say no more than that it is another.
    if version != 0 {
        return Err(DnsError::EdnsVersion(version));
    }
    while !options.is_empty() {
        options.u16().and_then(|_code| options.vector16()).ok_or(DnsError::Opt)?;
    }
    Ok(Edns { udp_size, dnssec_ok: flags & 0x80 != 0 })
}
