//! A web server on loopback that writes down what it gets, byte by byte, and answers what the test says.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::World;

/// What a server was sent: each request as its whole text, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// The request lines.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.all().iter().map(|request| request.lines().next().unwrap_or_default().to_owned()).collect()
    }

    fn add(&self, request: &[u8]) {
        self.0.lock().unwrap().push(String::from_utf8_lossy(request).into_owned());
    }
}

/// Puts a server at this address that answers each request with `answer(request)`, and closes when that is empty.
pub(crate) async fn web(
    world: &World,
    address: &str,
    answer: impl Fn(&str) -> Vec<u8> + Clone + Send + Sync + 'static,
) -> Seen {
    let seen = Seen::default();
    let writes = seen.clone();
    let serve = move |stream| serve(stream, writes.clone(), answer.clone());
    world.server(address, serve).await;
    seen
}

/// A response with this body and its length.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

async fn serve(mut stream: TcpStream, seen: Seen, answer: impl Fn(&str) -> Vec<u8>) {
    let mut bytes = Vec::new();
    loop {
        let Some(request) = request(&mut stream, &mut bytes).await else { return };
        seen.add(&request);
        let response = answer(&String::from_utf8_lossy(&request));
        if response.is_empty() || stream.write_all(&response).await.is_err() {
            return;
        }
        if response.windows(17).any(|window| window.eq_ignore_ascii_case(b"connection: close")) {
            return;
        }
    }
}

/// One request with its body, by its length or by its chunks.
async fn request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Some(length) = whole(bytes) {
            return Some(bytes.drain(..length).collect());
        }
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn whole(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    if head.contains("transfer-encoding: chunked") {
        let rest = &bytes[end..];
        let last =
            if rest.starts_with(b"0\r\n") { 0 } else { rest.windows(5).position(|w| w == b"\r\n0\r\n")? + 2 };
        let end_of_trailers = rest[last..].windows(4).position(|window| window == b"\r\n\r\n")?;
        return Some(end + last + end_of_trailers + 4);
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = end + length.map_or(0, |length| length.trim().parse().unwrap());
    (bytes.len() >= length).then_some(length)
}
