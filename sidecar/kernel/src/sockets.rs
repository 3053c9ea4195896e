//! What a socket knows about itself.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;

/// Bytes that were written to a TCP socket and not acknowledged by the peer's kernel yet, the end of the stream counted
/// as one (SIOCOUTQ, tcp(7)).
pub fn unacknowledged(socket: impl AsFd) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: SIOCOUTQ, which is TIOCOUTQ, writes one int to where it is told; the descriptor is borrowed for the call.
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut count) };
    Errno::result(done)?;
    Ok(usize::try_from(count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_the_peer_has_not_taken_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        assert_eq!(unacknowledged(&sender).unwrap(), 0);
        sender.set_nonblocking(true).unwrap();
        let piece = [7; 64 * 1024];
        let mut written = 0;
        while let Ok(count) = sender.write(&piece) {
            written += count;
        }
        let left = unacknowledged(&sender).unwrap();
        assert!(left > 0 && left <= written, "{left} of {written}");
        drop(sender);
        let mut all = Vec::new();
        receiver.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), written);
    }
}
