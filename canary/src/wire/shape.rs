//! A stream that changes how the first words of a client are cut, and not what they say: a reader who does not put them
//! together again sees something else.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd as _;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// How the first flight is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Segments of at most so many octets.
    Segments(usize),
    /// TLS records with at most so many octets each (RFC 8446 section 5.1 lets a message be fragmented).
    Records(usize),
    /// Such records, and a segment for each octet.
    Both(usize),
    /// So many octets, a pause, and the rest. A pause ends when the peer says something or ends the connection; there is then
    /// nothing more to send, and what it said is read next.
    Halt {
        /// Octets before the pause.
        after: usize,
        /// How long it is.
        pause: Duration,
    },
    /// So many octets, a pause behind each, and the rest, likewise.
    Dribble {
        /// Octets that are sent alone.
        octets: usize,
        /// How long each pause is.
        pause: Duration,
    },
}

/// A stream on which its peer can be waited for.
pub trait Pause {
    /// Waits so long, or until the peer has said something, or has ended the connection: true then.
    fn pause(&self, time: Duration) -> bool;
}

impl Pause for TcpStream {
    fn pause(&self, time: Duration) -> bool {
        let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        let mut watched = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
        // Interrupted, it has not been long enough; the octets then come faster than they should, and no more than that.
        matches!(poll(&mut watched, timeout), Ok(1..))
    }
}

/// A stream whose first flight, up to the first read, is cut. Nagle's algorithm has to be off in the stream below.
#[derive(Debug)]
pub struct Shaped<S> {
    stream: S,
    shape: Shape,
    has_read: bool,
}

impl<S> Shaped<S> {
    /// Nothing was sent yet.
    pub fn new(stream: S, shape: Shape) -> Self {
        Self { stream, shape, has_read: false }
    }
}

impl<S: Read> Read for Shaped<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.has_read = true;
        self.stream.read(buffer)
    }
}

impl<S: Write + Pause> Write for Shaped<S> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if self.has_read {
            return self.stream.write(octets);
        }
        match self.shape {
            Shape::Segments(each) => self.parts(octets, each)?,
            Shape::Records(each) => self.stream.write_all(&recut(octets, each))?,
            Shape::Both(each) => self.parts(&recut(octets, each), 1)?,
            Shape::Halt { after, pause } => {
                let (before, rest) = octets.split_at(after.min(octets.len()));
                self.stream.write_all(before)?;
                if !self.stream.pause(pause) {
                    self.stream.write_all(rest)?;
                }
            }
            Shape::Dribble { octets: alone, pause } => {
                let (before, rest) = octets.split_at(alone.min(octets.len()));
                for octet in before.chunks(1) {
                    self.stream.write_all(octet)?;
                    if self.stream.pause(pause) {
                        return Ok(octets.len());
                    }
                }
                self.stream.write_all(rest)?;
            }
        }
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl<S: Write> Shaped<S> {
    fn parts(&mut self, octets: &[u8], each: usize) -> io::Result<()> {
        octets.chunks(each.max(1)).try_for_each(|part| self.stream.write_all(part))
    }
}

/// The same TLS records with at most `each` octets of content. What is no whole record stays as it is.
pub fn recut(octets: &[u8], each: usize) -> Vec<u8> {
    let mut cut = Vec::with_capacity(octets.len() * 2);
    let mut rest = octets;
    while let [kind, major, minor, high, low, after @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some((content, next)) = after.split_at_checked(length) else { break };
        for part in content.chunks(each.max(1)) {
            cut.extend(super::hello::record(*kind, [*major, *minor], part));
        }
        rest = next;
    }
    cut.extend(rest);
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers each write by itself.
    #[derive(Default)]
    struct Writes(Vec<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
            self.0.push(octets.to_vec());
            Ok(octets.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Pause for Writes {
        fn pause(&self, _: Duration) -> bool {
            false
        }
    }

    impl Read for Writes {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Ok(0)
        }
    }

    #[test]
    fn content_stays_the_same_when_records_are_cut_again() {
        let two = [&[22, 3, 1, 0, 5][..], b"hello", &[20, 3, 3, 0, 1, 1]].concat();
        let cut = recut(&two, 2);
        assert_eq!(cut, b"\x16\x03\x01\0\x02he\x16\x03\x01\0\x02ll\x16\x03\x01\0\x01o\x14\x03\x03\0\x01\x01");
        assert_eq!(recut(b"no record", 2), b"no record");
        assert_eq!(recut(&cut, 9), cut);
    }

    #[test]
    fn only_what_comes_before_the_first_read_is_cut() {
        let mut shaped = Shaped::new(Writes::default(), Shape::Segments(2));
        shaped.write_all(b"first").unwrap();
        shaped.read_exact(&mut []).unwrap();
        let _ = shaped.read(&mut [0]).unwrap();
        shaped.write_all(b"second").unwrap();
        assert_eq!(shaped.stream.0, [&b"fi"[..], b"rs", b"t", b"second"]);
    }

    /// Whoever is answered before he has said all need not go on, and reads the answer.
    #[test]
    fn a_pause_ends_with_the_peers_answer() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(server.local_addr().unwrap()).unwrap();
        let (mut peer, _) = server.accept().unwrap();
        assert!(!client.pause(Duration::from_millis(1)));
        peer.write_all(b"no").unwrap();
        let shape = Shape::Dribble { octets: 4, pause: Duration::from_secs(60) };
        let mut shaped = Shaped::new(client, shape);
        shaped.write_all(b"a few words").unwrap();
        let mut answer = [0; 2];
        shaped.read_exact(&mut answer).unwrap();
        drop(shaped);
        let mut heard = Vec::new();
        peer.read_to_end(&mut heard).unwrap();
        assert_eq!((&answer, heard.as_slice()), (b"no", &b"a"[..]));
    }

    #[test]
    fn a_halt_and_a_dribble_lose_nothing() {
        for (shape, writes) in [
            (Shape::Halt { after: 3, pause: Duration::ZERO }, 2),
            (Shape::Dribble { octets: 4, pause: Duration::ZERO }, 5),
            (Shape::Halt { after: 300, pause: Duration::ZERO }, 1),
        ] {
            let mut shaped = Shaped::new(Writes::default(), shape);
            shaped.write_all(b"a few words").unwrap();
            let sent = shaped.stream.0;
            assert_eq!(sent.concat(), b"a few words");
            assert_eq!(sent.iter().filter(|write| !write.is_empty()).count(), writes, "{shape:?}");
        }
    }
}
