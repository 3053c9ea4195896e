//! Packets that the kernel's rules refused: one record for each that the kernel copies, at most ten a second, and a count
//! of the others.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use closedbook_kernel::nft::NUMBERS;
use closedbook_policy::{Reason, Refusal};
use nix::errno::Errno;
use nix::sys::socket::{NetlinkAddr, recvfrom};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::Outer;
use super::log::Kind;
use super::stop::Stop;
use crate::evidence::packet::{Copy, Packet, copies};

/// The kernel sends no more at once for what is copied of one packet.
const DATAGRAM: usize = 16 * 1024;

/// Datagrams that are still read after the end was told. More can't be waiting: the kernel copies some dozens a second.
const LAST: usize = 1_000;

/// The kernel's end of the log of refused packets.
#[derive(Debug)]
pub(crate) struct PacketLog {
    socket: AsyncFd<OwnedFd>,
    count: Count,
}

impl PacketLog {
    /// For the first proxy of a namespace, or a later one, which has not seen what came before it. Must run inside a
    /// runtime.
    pub(crate) fn new(socket: OwnedFd, first: bool) -> io::Result<Self> {
        #[expect(deprecated, reason = "an owned descriptor is what it asks for; what replaces it is unsafe")]
        let socket = AsyncFd::with_interest(socket, Interest::READABLE)?;
        Ok(Self { socket, count: if first { Count::first() } else { Count::default() } })
    }

    /// Records until `stop`, and then what is still waiting.
    pub(crate) async fn serve(mut self, outer: Arc<Outer>, mut stop: Stop) {
        let mut buffer = vec![0; DATAGRAM];
        loop {
            let received = tokio::select! {
                () = stop.told() => break,
                received = self.socket.async_io(Interest::READABLE, |socket| receive(socket, &mut buffer)) => received,
            };
            match received {
                Ok(length) => self.record(&outer, buffer.get(..length).unwrap_or_default()).await,
                // The kernel had no room for a copy: the numbers tell.
                Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => {}
                Err(error) => {
                    tracing::error!(%error, "the kernel's log of refused packets can't be read any more");
                    return;
                }
            }
        }
        for _ in 0..LAST {
            match receive(self.socket.get_ref(), &mut buffer) {
                Ok(length) => self.record(&outer, buffer.get(..length).unwrap_or_default()).await,
                Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => {}
                Err(_) => return,
            }
        }
    }

    async fn record(&mut self, outer: &Outer, datagram: &[u8]) {
        for Copy { number, packet } in copies(datagram) {
            let unrecorded = self.count.up_to(number);
            outer.log.tally().packets(unrecorded);
            if !outer.probes.sent(&packet) {
                record(outer, &packet, unrecorded).await;
            }
        }
    }
}

async fn record(outer: &Outer, packet: &Packet, unrecorded: i64) {
    let Ok(mut record) = outer.log.open(outer.ruling.now()).await else { return };
    record.note(|entry| {
        entry.kind = Kind::Packet;
        entry.original = packet.destination();
        entry.port = packet.port();
    });
    let detail = match unrecorded {
        1.. => format!("{packet}; {unrecorded} more were refused before it and not recorded"),
        _ => packet.to_string(),
    };
    record.deny(&Refusal::new(Reason::Packet, detail));
}

/// One datagram of the kernel's. Others of the namespace can send to the socket only with CAP_NET_ADMIN over it; who had
/// that could still not speak in the kernel's place.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let (length, sender) = recvfrom::<NetlinkAddr>(socket.as_raw_fd(), buffer)?;
    Ok(if sender.is_some_and(|sender| sender.pid() == 0) { length } else { 0 })
}

/// Tells by the numbers of the copies how many packets were not copied.
#[derive(Debug, Default)]
struct Count {
    last: Option<u32>,
}

impl Count {
    /// Nothing was refused yet, so the next number is zero.
    fn first() -> Self {
        Self { last: Some(NUMBERS - 1) }
    }

    /// How many were missed before this one. A packet may be copied a little later than one with a higher number; it
    /// was counted as missed then, so it counts as minus one.
    fn up_to(&mut self, number: u32) -> i64 {
        let numbers = i64::from(NUMBERS);
        let ahead = match self.last {
            None => 1,
            Some(last) => (i64::from(number) - i64::from(last)).rem_euclid(numbers),
        };
        if ahead > numbers / 2 {
            return -1;
        }
        self.last = Some(number);
        ahead - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(count: &mut Count, numbers: &[u32]) -> Vec<i64> {
        numbers.iter().map(|number| count.up_to(*number)).collect()
    }

    /// G13: what was not recorded is counted, over the end of the numbers, and whatever the order.
    #[test]
    fn gaps_are_counted() {
        assert_eq!(missed(&mut Count::first(), &[0, 1, 2, 7, 8]), [0, 0, 0, 4, 0]);
        assert_eq!(missed(&mut Count::first(), &[3, 5, 4, 6]), [3, 1, -1, 0]);
        assert_eq!(missed(&mut Count::default(), &[500, 501, 600]), [0, 0, 98]);
        assert_eq!(missed(&mut Count::default(), &[NUMBERS - 2, NUMBERS - 1, 0, 2]), [0, 0, 0, 1]);
    }
}
