use std::io::ErrorKind;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::pipe::Pipes;
use super::{End, Moved, copy};
use crate::outer::socket::Socket;

/// A client and a server with the proxy's two sockets between them.
struct Pair {
    client: TcpStream,
    server: TcpStream,
    moved: Arc<Moved>,
    copying: JoinHandle<End>,
}

async fn pair() -> Pair {
    let (client, near) = connected().await;
    let (far, server) = connected().await;
    let moved = Arc::new(Moved::default());
    let counts = Arc::clone(&moved);
    let copying = tokio::spawn(async move {
        let (near, far) = (Socket::new(near).unwrap(), Socket::new(far).unwrap());
        let end = copy(&near, &far, &counts, &Pipes::new(256)).await;
        if end == End::Finished {
            near.settle();
            far.settle();
        }
        end
    });
    Pair { client, server, moved, copying }
}

async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (one, two) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    (one.unwrap(), two.unwrap().0)
}

fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
}

fn loaded(counter: &std::sync::atomic::AtomicU64) -> u64 {
    counter.load(std::sync::atomic::Ordering::Relaxed)
}

const BULK: usize = 100 * 1024 * 1024;

/// Bytes of which no two stretches are alike, over and over. The length is a prime, so that the pieces of no buffer
/// come round to the same place.
fn noise(mut state: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4_194_301);
    while bytes.len() < 4_194_301 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(4_194_301);
    bytes
}

/// Writes in pieces of all sizes.
async fn pour(seed: u64, stream: &mut (impl AsyncWriteExt + Unpin)) {
    let noise = noise(seed);
    let (mut at, mut left) = (0, BULK);
    while left > 0 {
        let piece = left.min(1 + left * 7 % 200_000).min(noise.len() - at);
        stream.write_all(&noise[at..at + piece]).await.unwrap();
        at = (at + piece) % noise.len();
        left -= piece;
    }
    stream.shutdown().await.unwrap();
}

/// Reads to the end; how many of the bytes were those that were poured.
async fn drink(seed: u64, stream: &mut (impl AsyncReadExt + Unpin)) -> usize {
    let noise = noise(seed);
    let mut chunk = vec![0; 200_000];
    let (mut at, mut good) = (0, 0);
    loop {
        let most = chunk.len().min(noise.len() - at);
        let count = stream.read(&mut chunk[..most]).await.unwrap();
        if count == 0 || chunk[..count] != noise[at..at + count] {
            return good;
        }
        at = (at + count) % noise.len();
        good += count;
    }
}

/// G12: 100 MiB in each direction at once arrive as they were sent, by splice(2).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bulk() {
    let Pair { mut client, mut server, moved, copying } = pair().await;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let ((), up, (), down) = tokio::join!(
        pour(1, &mut to_client),
        drink(1, &mut from_server),
        pour(2, &mut to_server),
        drink(2, &mut from_client)
    );
    assert_eq!((up, down), (BULK, BULK));
    assert_eq!(copying.await.unwrap(), End::Finished);
    assert_eq!((loaded(&moved.up), loaded(&moved.down)), (BULK as u64, BULK as u64));
    assert!(loaded(&moved.spliced) > BULK as u64 / 10, "{}", loaded(&moved.spliced));
}

/// G12: a byte is passed on when it comes, without waiting for more.
#[tokio::test]
async fn nothing_waits() {
    let Pair { mut client, mut server, moved, .. } = pair().await;
    for round in 0..100 {
        client.write_u8(round).await.unwrap();
        assert_eq!(server.read_u8().await.unwrap(), round);
        server.write_u8(round).await.unwrap();
        assert_eq!(client.read_u8().await.unwrap(), round);
    }
    assert_eq!(loaded(&moved.spliced), 0, "a trickle is copied");
}

/// G12: each side may end while the other goes on.
#[tokio::test]
async fn half_close() {
    for client_first in [true, false] {
        let Pair { client, server, copying, .. } = pair().await;
        let (mut first, mut second) = if client_first { (client, server) } else { (server, client) };
        first.write_all(b"question").await.unwrap();
        first.shutdown().await.unwrap();
        let mut read = Vec::new();
        second.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"question");
        second.write_all(b"answer").await.unwrap();
        second.shutdown().await.unwrap();
        let mut read = Vec::new();
        first.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, b"answer");
        assert_eq!(copying.await.unwrap(), End::Finished);
    }
}

/// G12: a reset of one side is a reset for the other.
#[tokio::test]
async fn resets() {
    for from_client in [true, false] {
        let Pair { client, server, copying, .. } = pair().await;
        let (one, mut other) = if from_client { (client, server) } else { (server, client) };
        reset(one);
        assert_eq!(other.read(&mut [0]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(copying.await.unwrap(), End::Broken);
    }
}

/// A reset is noticed from a side that has ended before, and so is not read any more.
#[tokio::test]
async fn reset_after_half_close() {
    let Pair { mut client, mut server, copying, .. } = pair().await;
    client.shutdown().await.unwrap();
    assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
    reset(client);
    assert_eq!(copying.await.unwrap(), End::Broken);
    assert!(server.write_all(b"x").await.is_err() || server.read(&mut [0]).await.is_err());
}

/// G12: an answer that comes before the request was read to its end reaches the client, although the server resets.
#[tokio::test]
async fn early_answer() {
    let Pair { mut client, mut server, copying, .. } = pair().await;
    client.write_all(&[1; 1024]).await.unwrap();
    assert_eq!(server.read_u8().await.unwrap(), 1);
    server.write_all(b"too large").await.unwrap();
    let mut answer = [0; 9];
    // Closing with unread bytes is a reset.
    drop(server);
    client.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"too large");
    assert_eq!(copying.await.unwrap(), End::Broken);
}
