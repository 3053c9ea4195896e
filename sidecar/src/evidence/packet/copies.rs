//! The messages of nfnetlink_log (`linux/netfilter/nfnetlink_log.h`).
//!
//! The frame is the kernel's own. It is read with as little trust as what it carries.

use super::Packet;

/// One refused packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// Its number among all that were refused, copied or not; begins at zero, and again at zero after the last.
    pub number: u32,
    /// What it was.
    pub packet: Packet,
}

/// Numbers of the kernel's headers.
const NFNL_SUBSYS_ULOG: u16 = 4;
const NFULNL_MSG_PACKET: u16 = 0;
const PACKET: u16 = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET;
const NFULA_MARK: u16 = 2;
const NFULA_PAYLOAD: u16 = 9;
/// Octets of netlink's header, and of the one that all messages of netfilter have after it.
const HEADER: usize = 16;
const FAMILY: usize = 4;

/// The packets that a datagram tells of, in order. Ends at the first message that is not whole.
pub fn copies(datagram: &[u8]) -> impl Iterator<Item = Copy> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        loop {
            let (kind, body);
            (kind, body, rest) = message(rest)?;
            if kind == PACKET {
                return Some(copy(body.get(FAMILY..).unwrap_or_default()));
            }
        }
    })
}

fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (length, fields) = bytes.split_first_chunk()?;
    let (kind, _) = fields.split_first_chunk()?;
    let length = usize::try_from(u32::from_ne_bytes(*length)).ok()?;
    let body = bytes.get(HEADER..length)?;
    // Messages start at multiples of four; the last one need not be padded.
    let rest = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((u16::from_ne_bytes(*kind), body, rest))
}

/// The kernel leaves the mark out where it is zero, as that of the first packet is.
fn copy(mut attributes: &[u8]) -> Copy {
    let mut copy = Copy { number: 0, packet: Packet::Unreadable };
    while let Some((kind, value, rest)) = attribute(attributes) {
        attributes = rest;
        match (kind, <[u8; 4]>::try_from(value)) {
            (NFULA_MARK, Ok(mark)) => copy.number = u32::from_be_bytes(mark),
            (NFULA_PAYLOAD, _) => copy.packet = Packet::parse(value),
            _ => {}
        }
    }
    copy
}

fn attribute(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    const HEADER: usize = 4;
    /// The upper two bits say how the value is written, not what it is.
    const KIND: u16 = 0x3fff;
    let (length, fields) = bytes.split_first_chunk()?;
    let (kind, _) = fields.split_first_chunk()?;
    let length = usize::from(u16::from_ne_bytes(*length));
    let value = bytes.get(HEADER..length)?;
    let rest = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((u16::from_ne_bytes(*kind) & KIND, value, rest))
}
