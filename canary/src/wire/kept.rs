//! A connection on which several HTTP/1 answers come one after the other, each told from the next.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use super::{LOOKED_AT, PATIENCE, reply, tcp};
use crate::nonce::Nonce;
use crate::seen::Seen;

/// A connection that is kept, and what came on it and was not looked at yet.
#[derive(Debug)]
pub struct Kept {
    stream: TcpStream,
    octets: Vec<u8>,
}

impl Kept {
    /// Connects.
    pub fn open(to: SocketAddr) -> Result<Self, Seen> {
        Ok(Self { stream: tcp::connect(to, PATIENCE)?, octets: Vec::new() })
    }

    /// Sends, and does not wait. `None` if that went well.
    pub fn send(&mut self, octets: &[u8]) -> Option<Seen> {
        self.stream.write_all(octets).err().map(|error| Seen::of_error("send", &error))
    }

    /// The next answer, by itself.
    pub fn answer(&mut self, nonce: &Nonce) -> Seen {
        let mut chunk = [0_u8; 4096];
        loop {
            if let Some(end) = whole(&self.octets) {
                let rest = self.octets.split_off(end);
                let answer = std::mem::replace(&mut self.octets, rest);
                return reply::classify(&answer, nonce);
            }
            match self.stream.read(&mut chunk) {
                Ok(count) if count > 0 && self.octets.len() < LOOKED_AT => {
                    self.octets.extend_from_slice(chunk.get(..count).unwrap_or_default());
                }
                Err(error) if self.octets.is_empty() => return Seen::of_error("recv", &error),
                // The last answer may say nothing of its length, or be no HTTP.
                _ => return reply::classify(&std::mem::take(&mut self.octets), nonce),
            }
        }
    }

    /// Sends, and says what the next answer is.
    pub fn ask(&mut self, octets: &[u8], nonce: &Nonce) -> Seen {
        match self.send(octets) {
            // A filter may have answered before it stopped listening.
            Some(error) => match self.answer(nonce) {
                Seen::Silence | Seen::Closed | Seen::Reset => error,
                told => told,
            },
            None => self.answer(nonce),
        }
    }
}

/// Where the first answer ends, interim ones included (RFC 9112 section 6.3); `None` if it is not all there, or ends with
/// its connection.
fn whole(octets: &[u8]) -> Option<usize> {
    let head_end = octets.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let (head, rest) = octets.split_at_checked(head_end)?;
    let status = reply::status(head)?;
    if status != 101 && (100..200).contains(&status) {
        return whole(rest).map(|end| head_end + end);
    }
    if matches!(status, 101 | 204 | 304) {
        return Some(head_end);
    }
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if field("transfer-encoding:").is_some_and(|value| value.ends_with("chunked")) {
        return chunks(rest).map(|end| head_end + end);
    }
    let length: usize = field("content-length:")?.parse().ok()?;
    let end = head_end.checked_add(length)?;
    (octets.len() >= end).then_some(end)
}

/// Where a chunked body ends (RFC 9112 section 7.1); trailers are looked for, extensions passed over.
fn chunks(octets: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let line_end = at + octets.get(at..)?.windows(2).position(|two| two == b"\r\n")?;
        let line = std::str::from_utf8(octets.get(at..line_end)?).ok()?;
        let size = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            // The empty line follows at once, or behind trailers.
            let rest = octets.get(line_end..)?;
            return rest.windows(4).position(|four| four == b"\r\n\r\n").map(|end| line_end + end + 4);
        }
        at = line_end.checked_add(size)?.checked_add(4)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_what_follows_them() {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na;x=y\r\n0123456789\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        ] {
            let two = format!("{answer}HTTP/1.1 403 Forbidden\r\n");
            assert_eq!(whole(two.as_bytes()), Some(answer.len()), "{answer}");
            for end in 0..answer.len() {
                assert_eq!(whole(&answer.as_bytes()[..end]), None, "{end} octets of {answer}");
            }
        }
    }

    #[test]
    fn lengths_that_nobody_has_are_no_end() {
        for answer in [
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\nabc", usize::MAX),
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\nabc", usize::MAX),
            "HTTP/1.1 200 OK\r\n\r\nto the end".to_owned(),
            "LAB-WITNESS\r\n\r\n".to_owned(),
        ] {
            assert_eq!(whole(answer.as_bytes()), None, "{answer}");
        }
    }
}
