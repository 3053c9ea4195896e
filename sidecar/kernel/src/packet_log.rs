//! Copies of the packets that the rules refused, from the kernel (nfnetlink_log).

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use netlink_sys::protocols::NETLINK_NETFILTER;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;

use crate::netlink::{self, Channel};
use crate::nft::Log;

/// A socket that receives the copies of packets of the calling thread's network namespace, at most as many bytes of each
/// as `log` says. Needs CAP_NET_ADMIN to be made and nothing to be read, by whoever holds it; reading never waits.
pub fn open(log: Log) -> io::Result<OwnedFd> {
    // Otherwise copies wait up to a second for others to come along, and the last ones for ever.
    const AT_ONCE: u32 = 1;
    let channel = Channel::open(NETLINK_NETFILTER)?;
    let mode = [&log.snaplen.to_be_bytes()[..], &[libc::NFULNL_COPY_PACKET as u8, 0]].concat();
    let mut body = vec![libc::AF_UNSPEC as u8, libc::NFNETLINK_V0 as u8];
    body.extend(log.group.to_be_bytes());
    body.extend(attribute(libc::NFULA_CFG_CMD, &[libc::NFULNL_CFG_CMD_BIND as u8]));
    body.extend(attribute(libc::NFULA_CFG_MODE, &mode));
    body.extend(attribute(libc::NFULA_CFG_QTHRESH, &AT_ONCE.to_be_bytes()));
    let kind = (libc::NFNL_SUBSYS_ULOG << 8 | libc::NFULNL_MSG_CONFIG) as u16;
    channel.request(&netlink::request(kind, libc::NLM_F_ACK, 1, &body), 1)?;
    let socket = channel.as_fd().try_clone_to_owned()?;
    fcntl(&socket, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(socket)
}

/// A netlink attribute, padded.
fn attribute(kind: libc::c_int, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut attribute = Vec::with_capacity(length.next_multiple_of(4));
    attribute.extend((length as u16).to_ne_bytes());
    attribute.extend((kind as u16).to_ne_bytes());
    attribute.extend(value);
    attribute.resize(length.next_multiple_of(4), 0);
    attribute
}
