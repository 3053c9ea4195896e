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

/// Ends a TCP connection by a reset, now: what was written and not sent is thrown away, and nothing that another thread
/// writes at this moment is sent after this has returned. The descriptor stays open, and every use of it fails
/// (connect(2) with AF_UNSPEC).
pub fn abort(socket: impl AsFd) -> io::Result<()> {
    let nobody = libc::sockaddr {
        // The constant is 0, whatever type it is declared with.
        sa_family: libc::AF_UNSPEC as libc::sa_family_t,
        sa_data: [0; 14],
    };
    let length = libc::socklen_t::try_from(size_of::<libc::sockaddr>()).unwrap_or(0);
    // SAFETY: the address lives during the call, and its length is told.
    let done = unsafe { libc::connect(socket.as_fd().as_raw_fd(), &raw const nobody, length) };
    Errno::result(done)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// G7: in every state that a connection with a server can be in, the peer learns of it by a reset, and gets nothing
    /// of what was waiting.
    #[test]
    fn an_aborted_connection_is_reset() {
        for (half_closed, waiting) in [(false, false), (true, false), (false, true), (true, true)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut receiver, _) = listener.accept().unwrap();
            let mut written = 0;
            if waiting {
                sender.set_nonblocking(true).unwrap();
                while let Ok(count) = sender.write(&[7; 64 * 1024]) {
                    written += count;
                }
            }
            if half_closed {
                sender.shutdown(std::net::Shutdown::Write).unwrap();
            }
            abort(&sender).unwrap();
            assert!(sender.write(b"more").is_err());
            let mut all = Vec::new();
            let ended = receiver.read_to_end(&mut all);
            // Without anything waiting, the end that was said before the abort is there to be read.
            assert!(ended.is_err() || (half_closed && !waiting), "{half_closed} {waiting}");
            assert!(all.len() < written.max(1), "{} of {written}", all.len());
        }
    }

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
