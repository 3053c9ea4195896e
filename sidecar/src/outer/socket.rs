//! A TCP socket of the proxy: reset when it is dropped, unless somebody said that it ended in order.

use std::cell::RefCell;
use std::io;
use std::net::Shutdown;
use std::time::Duration;

use closedbook_kernel::sockets::{abort, unacknowledged};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// What one read takes at most, and when a direction counts as bulk.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Idle time before the first keepalive probe, on both sides: shorter than the NAT and conntrack timeouts that cut
/// streams which are silent while a model thinks.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
const KEEPALIVE_PROBES: u32 = 4;

/// How long a peer that is through may take none of what was written to it. Longer than the kernel tries on behalf of a
/// closed socket.
const STALLED: Duration = Duration::from_secs(120);

/// Between two looks at what is left.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Of a connected socket, the two ends of its life: dropping it sends a reset, so a cut, a panic and a forgotten path
/// all look like a refusal (G4); only [`Socket::settle`] lets the kernel send what is buffered and a FIN.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
}

impl Socket {
    /// Arms a connected stream: reset on drop, no delay, keepalive.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        let socket = SockRef::from(&stream);
        socket.set_linger(Some(Duration::ZERO))?;
        // Nothing that a client wrote waits for more of it.
        socket.set_tcp_nodelay(true)?;
        let keepalive = TcpKeepalive::new()
            .with_time(KEEPALIVE_IDLE)
            .with_interval(KEEPALIVE_INTERVAL)
            .with_retries(KEEPALIVE_PROBES);
        socket.set_tcp_keepalive(&keepalive)?;
        Ok(Self { stream })
    }

    /// The stream, for reading and writing by shared reference.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Says that nothing more is written: the peer reads an end, and may go on writing (half-close).
    pub(crate) fn shut_write(&self) -> io::Result<()> {
        SockRef::from(&self.stream).shutdown(Shutdown::Write)
    }

    /// Resets the connection now, whoever else holds the socket.
    pub(crate) fn abort(&self) {
        // A connection that is gone already can't be ended again.
        let _ = abort(&self.stream);
    }

    /// The connection ended in order: from now on dropping it sends what is buffered, and a FIN.
    pub(crate) fn settle(&self) {
        // A socket that can't be told so any more is reset already.
        let _ = SockRef::from(&self.stream).set_linger(None);
    }

    /// Whether the peer has everything that was written. Closed in order before that, the kernel would go on sending
    /// after the flow has left the registry, where no switch of phase could stop it (G7).
    pub(crate) fn is_delivered(&self) -> bool {
        unacknowledged(&self.stream).is_ok_and(|count| count == 0)
    }

    /// Waits until the peer has everything, is lost, or takes nothing more.
    pub(crate) async fn delivered(&self) {
        let mut left = usize::MAX;
        let mut since = Instant::now();
        let mut pause = Duration::from_millis(1);
        while let Ok(count @ 1..) = unacknowledged(&self.stream) {
            if count < left {
                (left, since) = (count, Instant::now());
            } else if since.elapsed() > STALLED {
                return;
            }
            // The kernel tells nobody when its queue is empty.
            tokio::select! {
                () = self.lost() => return,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
            }
        }
    }

    /// Writes everything, or fails.
    pub(crate) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.stream.try_write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.stream.writable().await?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for bytes and hands them to `take`, in a buffer that the thread owns: a connection that waits holds none.
    /// No bytes mean that the peer has ended its side.
    pub(crate) async fn read_with<T>(&self, mut take: impl FnMut(&[u8]) -> T) -> io::Result<T> {
        loop {
            self.stream.readable().await?;
            let read = scratch(|buffer| {
                let count = self.stream.try_read(buffer)?;
                Ok(take(buffer.get(..count).unwrap_or_default()))
            });
            match read {
                Err(error) if again(&error) => {}
                read => return read,
            }
        }
    }

    /// Ends when the peer has reset the connection, or its keepalive gave up. Never by an ordinary end.
    pub(crate) async fn lost(&self) {
        // An error of the wait itself means that the runtime is going down, which is as good a reason to stop.
        let _ = self.stream.ready(Interest::ERROR).await;
    }
}

/// Whether a call is only to be made again.
pub(crate) fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Lends the buffer of this thread. Not across an await, which is why it is lent to a closure.
pub(crate) fn scratch<T>(work: impl FnOnce(&mut [u8]) -> T) -> T {
    thread_local! {
        static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    SCRATCH.with_borrow_mut(|buffer| {
        buffer.resize(CHUNK, 0);
        work(buffer)
    })
}
