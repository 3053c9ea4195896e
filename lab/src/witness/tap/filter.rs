//! The classic BPF program of the tap.
//!
//! The kernel runs it on every packet, so that bulk TCP costs a few instructions instead of a copy. It keeps
//! everything but TCP; of TCP, the first segment of a connection, segments that no TCP stack sends, and segments
//! whose data starts with a nonce's mark: an otherwise ordinary hand-made segment is only known by that.

use nix::libc::{
    BPF_ABS, BPF_ADD, BPF_ALU, BPF_AND, BPF_B, BPF_H, BPF_IMM, BPF_IND, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K,
    BPF_LD, BPF_LDX, BPF_MISC, BPF_MSH, BPF_RET, BPF_RSH, BPF_TAX, BPF_W, BPF_X, SKF_AD_OFF, SKF_AD_PKTTYPE,
    SKF_AD_PROTOCOL,
};
use socket2::SockFilter;

const IPV4: u32 = 0x0800;
const IPV6: u32 = 0x86dd;
const TCP: u32 = 6;
/// On loopback every packet is seen twice, going out and coming in.
const PACKET_OUTGOING: u32 = 4;
const SYN: u32 = 0x02;
const RST: u32 = 0x04;
const ACK: u32 = 0x10;

/// Where jumps land: indices into [`program`], which has each statement's own beside it.
mod at {
    pub(super) const V4: u8 = 5;
    pub(super) const V6: u8 = 11;
    pub(super) const SEGMENT: u8 = 14;
    pub(super) const DATA: u8 = 20;
    pub(super) const KEEP: u8 = 28;
    pub(super) const DROP: u8 = 29;
}

pub(super) fn program() -> Vec<SockFilter> {
    vec![
        /*  0 */ load(BPF_B, ancillary(SKF_AD_PKTTYPE)),
        /*  1 */ jump(1, BPF_JEQ, PACKET_OUTGOING, at::DROP, 2),
        /*  2 */ load(BPF_H, ancillary(SKF_AD_PROTOCOL)),
        /*  3 */ jump(3, BPF_JEQ, IPV6, at::V6, 4),
        /*  4 */ jump(4, BPF_JEQ, IPV4, at::V4, at::KEEP),
        // V4: the protocol, then whether it is a fragment.
        /*  5 */ load(BPF_B, 9),
        /*  6 */ jump(6, BPF_JEQ, TCP, 7, at::KEEP),
        /*  7 */ load(BPF_H, 6),
        /*  8 */ jump(8, BPF_JSET, 0x3fff, at::KEEP, 9),
        // X = length of the IP header.
        /*  9 */ statement(BPF_LDX | BPF_MSH | BPF_B, 0),
        /* 10 */ statement(BPF_JMP, u32::from(at::SEGMENT - 11)),
        // V6: extension headers are kept, whatever is behind them.
        /* 11 */ load(BPF_B, 6),
        /* 12 */ jump(12, BPF_JEQ, TCP, 13, at::KEEP),
        /* 13 */ statement(BPF_LDX | BPF_IMM, 40),
        // SEGMENT: the TCP header is at X.
        /* 14 */ statement(BPF_LD | BPF_B | BPF_IND, 13),
        /* 15 */ statement(BPF_ALU | BPF_AND | BPF_K, SYN | RST | ACK),
        /* 16 */ jump(16, BPF_JEQ, SYN, at::KEEP, 17),
        /* 17 */ jump(17, BPF_JEQ, 0, at::KEEP, 18),
        /* 18 */ jump(18, BPF_JEQ, SYN | RST, at::KEEP, 19),
        /* 19 */ jump(19, BPF_JEQ, SYN | RST | ACK, at::KEEP, at::DATA),
        // DATA: X += length of the TCP header. Beyond the end of the packet a load ends the program with "drop".
        /* 20 */
        statement(BPF_LD | BPF_B | BPF_IND, 12),
        /* 21 */ statement(BPF_ALU | BPF_RSH | BPF_K, 2),
        /* 22 */ statement(BPF_ALU | BPF_AND | BPF_K, 0x3c),
        /* 23 */ statement(BPF_ALU | BPF_ADD | BPF_X, 0),
        /* 24 */ statement(BPF_MISC | BPF_TAX, 0),
        /* 25 */ statement(BPF_LD | BPF_W | BPF_IND, 0),
        /* 26 */ jump(26, BPF_JEQ, u32::from_be_bytes(*b"N0NC"), at::KEEP, 27),
        /* 27 */ jump(27, BPF_JEQ, u32::from_be_bytes(*b"n0nc"), at::KEEP, at::DROP),
        /* 28 */ statement(BPF_RET | BPF_K, u32::MAX),
        /* 29 */ statement(BPF_RET | BPF_K, 0),
    ]
}

fn ancillary(what: i32) -> u32 {
    // The kernel takes "negative" offsets as names of packet metadata.
    (SKF_AD_OFF + what).cast_unsigned()
}

fn load(size: u32, offset: u32) -> SockFilter {
    statement(BPF_LD | size | BPF_ABS, offset)
}

/// A jump from `here`; the kernel counts from the statement after it, and only forwards.
fn jump(here: u8, condition: u32, value: u32, then: u8, otherwise: u8) -> SockFilter {
    SockFilter::new((BPF_JMP | condition | BPF_K) as u16, then - here - 1, otherwise - here - 1, value)
}

fn statement(code: u32, value: u32) -> SockFilter {
    SockFilter::new(code as u16, 0, 0, value)
}
