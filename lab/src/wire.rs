//! The byte stream under a conversation, with the tricks that HTTP libraries have no words for.

mod rewind;

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

pub(crate) use rewind::Rewind;

/// Never ordered.
const NEVER: u64 = u64::MAX;
/// Octets of HTTP/2's preface (RFC 9113 section 3.4).
const PREFACE: usize = 24;
/// Octets of the last read that are kept.
const KEPT: usize = 2048;

/// A connection below HTTP.
pub(crate) enum Transport {
    Plain(Rewind<TcpStream>),
    Tls(Box<Rewind<TlsStream<Rewind<TcpStream>>>>),
}

/// What a request's handler asks of the stream its answer goes to.
#[derive(Debug)]
pub(crate) struct Orders {
    /// Octets to write before the next ones: an interim response.
    before: Mutex<Bytes>,
    has_before: AtomicBool,
    /// Octets that may still be written before the connection is reset.
    reset_after: AtomicU64,
    half_close: AtomicBool,
    /// Octets that came after our half-close.
    read_after: AtomicU64,
    /// How the octets of the last read began: what HTTP can't make anything of has arrived all the same.
    last_read: Mutex<Vec<u8>>,
}

/// A transport that follows orders.
pub(crate) struct Wire {
    transport: Transport,
    orders: Arc<Orders>,
    is_shut: bool,
}

impl Orders {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            before: Mutex::default(),
            has_before: AtomicBool::new(false),
            reset_after: AtomicU64::new(NEVER),
            half_close: AtomicBool::new(false),
            read_after: AtomicU64::new(0),
            last_read: Mutex::default(),
        })
    }

    /// Writes these octets first.
    pub(crate) fn write_before(&self, bytes: Bytes) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
        self.has_before.store(true, Ordering::Release);
    }

    /// Resets the connection once `octets` more have been written.
    pub(crate) fn reset_after(&self, octets: u64) {
        self.reset_after.store(octets, Ordering::Release);
    }

    /// When the conversation ends, closes the sending side only, and reads on to the end.
    pub(crate) fn half_close(&self) {
        self.half_close.store(true, Ordering::Release);
    }

    /// How the octets began that came last.
    pub(crate) fn last_read(&self) -> Vec<u8> {
        self.last_read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note_read(&self, octets: &[u8]) {
        let mut last = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        // The first octets are read by themselves, to see whether they are HTTP/2's preface; the rest belongs to them.
        if last.len() > PREFACE {
            last.clear();
        }
        last.extend_from_slice(octets.get(..KEPT).unwrap_or(octets));
    }

    /// What came after the half-close, if one was ordered.
    pub(crate) fn read_after_half_close(&self) -> Option<u64> {
        self.half_close.load(Ordering::Acquire).then(|| self.read_after.load(Ordering::Acquire))
    }
}

impl Wire {
    pub(crate) fn new(transport: Transport, orders: Arc<Orders>) -> Self {
        Self { transport, orders, is_shut: false }
    }

    /// Writes what goes before, and says how much of the following may be written.
    fn poll_allowance(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        while self.orders.has_before.load(Ordering::Acquire) {
            let bytes = self.orders.before.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let written = ready!(Pin::new(&mut self.transport).poll_write(cx, &bytes))?;
            let mut before = self.orders.before.lock().unwrap_or_else(PoisonError::into_inner);
            let rest = before.len();
            before.advance(written.min(rest));
            self.orders.has_before.store(!before.is_empty(), Ordering::Release);
        }
        let allowance = self.orders.reset_after.load(Ordering::Acquire);
        if allowance == 0 {
            self.transport.reset_on_close();
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Poll::Ready(Ok(usize::try_from(allowance).unwrap_or(usize::MAX)))
    }

    fn written(&self, octets: usize) {
        let allowance = self.orders.reset_after.load(Ordering::Acquire);
        if allowance != NEVER {
            self.orders.reset_after.store(allowance.saturating_sub(octets as u64), Ordering::Release);
        }
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut space = [0_u8; 8192];
        loop {
            let mut buffer = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut self.transport).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.orders.read_after.fetch_add(buffer.filled().len() as u64, Ordering::AcqRel);
        }
    }
}

impl Transport {
    /// A linger time of zero makes close(2) send RST instead of FIN.
    fn reset_on_close(&self) {
        let tcp = match self {
            Self::Plain(stream) => stream.inner(),
            Self::Tls(stream) => stream.inner().get_ref().0.inner(),
        };
        // If it fails the peer gets a FIN, and the test that wanted a reset says so.
        let _ = socket2::SockRef::from(tcp).set_linger(Some(Duration::ZERO));
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.transport).poll_read(cx, buf))?;
        // An end of stream is no octets, and hides none.
        if let Some(news) = buf.filled().get(before..).filter(|news| !news.is_empty()) {
            self.orders.note_read(news);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let allowance = ready!(self.poll_allowance(cx))?;
        let allowed = buf.get(..allowance).unwrap_or(buf);
        let written = ready!(Pin::new(&mut self.transport).poll_write(cx, allowed))?;
        self.written(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if ready!(self.poll_allowance(cx))? != usize::MAX {
            let first = bufs.iter().find(|buf| !buf.is_empty()).map_or(&[][..], |buf| buf);
            return self.poll_write(cx, first);
        }
        Pin::new(&mut self.transport).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_shut {
            ready!(Pin::new(&mut self.transport).poll_shutdown(cx))?;
            self.is_shut = true;
        }
        if self.orders.half_close.load(Ordering::Acquire) {
            return self.poll_drain(cx);
        }
        Poll::Ready(Ok(()))
    }
}
