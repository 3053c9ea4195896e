//! Conversations with the kernel over netlink: one request at a time, every answer checked for its sender.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_sys::{Socket, SocketAddr};
use nix::{
    libc,
    sys::{
        socket::{setsockopt, sockopt::ReceiveTimeout},
        time::{TimeVal, TimeValLike},
    },
};

/// Seconds. The kernel answers requests while they are sent; this only bounds what can't happen.
const PATIENCE: i64 = 5;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const HEADER: usize = 16;
const DUMP_INTERRUPTED: u16 = 0x10;

/// A netlink socket of the calling thread's network namespace.
#[derive(Debug)]
pub(crate) struct Channel(Socket);

impl Channel {
    /// Opens a socket for a `NETLINK_*` protocol.
    pub(crate) fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        setsockopt(&socket, ReceiveTimeout, &TimeVal::seconds(PATIENCE))?;
        Ok(Self(socket))
    }

    /// Sends one or more whole messages.
    pub(crate) fn send(&self, messages: &[u8]) -> io::Result<()> {
        let sent = self.0.send_to(messages, &SocketAddr::new(0, 0), 0)?;
        if sent == messages.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// The next datagram from the kernel. Datagrams of other processes of the namespace are passed over: who
    /// holds `CAP_NET_ADMIN` there may send them, and must not be able to answer in the kernel's place.
    pub(crate) fn receive(&self) -> io::Result<Vec<u8>> {
        loop {
            let (datagram, sender) = self.0.recv_from_full()?;
            if sender.port_number() == 0 {
                return Ok(datagram);
            }
        }
    }

    /// Sends one request that asks for an acknowledgement, and waits for it.
    pub(crate) fn request(&self, message: &[u8], sequence: u32) -> io::Result<()> {
        self.send(message)?;
        loop {
            let datagram = self.receive()?;
            for answer in messages(&datagram).filter(|answer| answer.sequence == sequence) {
                if let Some(result) = answer.result() {
                    return result;
                }
            }
        }
    }

    /// Sends one dump request and gives each answer to `each`.
    ///
    /// # Errors
    /// `Interrupted` when the tables changed while they were read: the answers fit no single moment.
    pub(crate) fn dump(
        &self,
        message: &[u8],
        sequence: u32,
        mut each: impl FnMut(Message<'_>),
    ) -> io::Result<()> {
        self.send(message)?;
        let mut torn = false;
        loop {
            let datagram = self.receive()?;
            for answer in messages(&datagram).filter(|answer| answer.sequence == sequence) {
                torn |= answer.flags & DUMP_INTERRUPTED != 0;
                match answer.result() {
                    Some(Ok(())) if torn => return Err(io::ErrorKind::Interrupted.into()),
                    Some(result) => return result,
                    None => each(answer),
                }
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A request: netlink's header, then `body`. `NLM_F_REQUEST` is added to `flags`.
pub(crate) fn request(kind: u16, flags: i32, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + body.len());
    message.extend(((HEADER + body.len()) as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    // Port 0: the kernel fills in ours.
    message.extend(0_u32.to_ne_bytes());
    message.extend(body);
    message
}

/// One netlink message inside a datagram.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    /// `nlmsg_type`.
    pub(crate) kind: u16,
    /// `nlmsg_flags`.
    pub(crate) flags: u16,
    /// `nlmsg_seq`: that of the request it answers.
    pub(crate) sequence: u32,
    /// Header and body, without trailing padding.
    pub(crate) bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// What comes after the header.
    pub(crate) fn body(&self) -> &'a [u8] {
        self.bytes.get(HEADER..).unwrap_or_default()
    }

    /// The end of an exchange: an acknowledgement, an error, or the end of a dump. `None` for anything else.
    pub(crate) fn result(&self) -> Option<io::Result<()>> {
        match self.kind {
            NLMSG_ERROR | NLMSG_DONE => {}
            _ => return None,
        }
        Some(match self.body().first_chunk().map(|code| i32::from_ne_bytes(*code)) {
            Some(code) if code >= 0 => Ok(()),
            Some(code) => Err(io::Error::from_raw_os_error(code.wrapping_neg())),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        })
    }
}

/// Splits a datagram into its messages; ends at the first that isn't whole.
pub(crate) fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let (message, after) = split(rest)?;
        rest = after;
        Some(message)
    })
}

fn split(datagram: &[u8]) -> Option<(Message<'_>, &[u8])> {
    let (length, fields) = datagram.split_first_chunk()?;
    let (kind, fields) = fields.split_first_chunk()?;
    let (flags, fields) = fields.split_first_chunk()?;
    let (sequence, _) = fields.split_first_chunk()?;
    let length = usize::try_from(u32::from_ne_bytes(*length)).ok().filter(|length| *length >= HEADER)?;
    let message = Message {
        kind: u16::from_ne_bytes(*kind),
        flags: u16::from_ne_bytes(*flags),
        sequence: u32::from_ne_bytes(*sequence),
        bytes: datagram.get(..length)?,
    };
    // Messages start at multiples of four; the last one need not be padded.
    Some((message, datagram.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
        request(kind, 0, sequence, body)
    }

    #[test]
    fn padded_messages_are_split() {
        let mut datagram = message(7, 1, &[1, 2, 3]);
        datagram.push(0);
        datagram.extend(message(NLMSG_DONE, 2, &0_i32.to_ne_bytes()));
        let found: Vec<_> = messages(&datagram).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].body(), [1, 2, 3]);
        assert!(found[0].result().is_none());
        assert!(found[1].result().unwrap().is_ok());
    }

    #[test]
    fn error_carries_errno() {
        let datagram = message(NLMSG_ERROR, 9, &(-13_i32).to_ne_bytes());
        let error = messages(&datagram).next().unwrap().result().unwrap().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(13));
    }

    /// G16: no prefix of an answer panics or is taken for a whole message.
    #[test]
    fn every_prefix_is_harmless() {
        let datagram = message(NLMSG_ERROR, 9, &(-13_i32).to_ne_bytes());
        for end in 0..datagram.len() {
            assert_eq!(messages(&datagram[..end]).count(), 0, "prefix of {end} bytes");
        }
    }

    #[test]
    fn length_below_header_ends_the_list() {
        let mut datagram = message(7, 1, &[]);
        datagram[..4].copy_from_slice(&3_u32.to_ne_bytes());
        assert_eq!(messages(&datagram).count(), 0);
    }

    #[test]
    fn error_without_code_is_no_acknowledgement() {
        let datagram = message(NLMSG_ERROR, 9, &[]);
        assert!(messages(&datagram).next().unwrap().result().unwrap().is_err());
    }
}
