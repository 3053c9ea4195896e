//! In the lab: sends back what comes, and remembers when the last byte for the forbidden host *arrived*, by the kernel's
//! clock of incoming packets and not by when it was read.

use std::io::{self, BufRead, IoSliceMut};
use std::net::Ipv6Addr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::Result;
use crate::wire::{CUT_PORT, KEPT_PORT};

/// Connections that wait to be accepted.
const BACKLOG: u32 = 4096;

/// Says `ready`, then for each line of stdin when the last byte for the forbidden host came, in nanoseconds since 1970.
pub(crate) fn run() -> Result<()> {
    let latest = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&latest);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (kept, cut) = {
        let _context = runtime.enter();
        (listen(KEPT_PORT)?, listen(CUT_PORT)?)
    };
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::join!(accept(kept, None), accept(cut, Some(seen)));
        });
    });
    println!("ready");
    for _ in io::stdin().lock().lines() {
        println!("{}", latest.load(Ordering::Acquire));
    }
    Ok(())
}

fn listen(port: u16) -> Result<TcpListener> {
    let socket = TcpSocket::new_v6()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv6Addr::UNSPECIFIED, port).into())?;
    Ok(socket.listen(BACKLOG)?)
}

async fn accept(listener: TcpListener, latest: Option<Arc<AtomicU64>>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let latest = latest.clone();
                // A connection that is reset is what this is about.
                tokio::spawn(async move { echo(stream, latest).await });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn echo(mut stream: TcpStream, latest: Option<Arc<AtomicU64>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    setsockopt(&stream, sockopt::ReceiveTimestampns, &true)?;
    let mut header = [0; 5];
    stream.read_exact(&mut header).await?;
    let [.., high, low] = header;
    let mut hello = vec![0; usize::from(u16::from_be_bytes([high, low]))];
    stream.read_exact(&mut hello).await?;
    let mut space = [0; 1024];
    loop {
        stream.readable().await?;
        let (count, arrived) = match stream.try_io(Interest::READABLE, || receive(&stream, &mut space)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            received => received?,
        };
        let Some(bytes) = space.get(..count).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
        if let Some(latest) = &latest {
            latest.fetch_max(arrived.ok_or(io::ErrorKind::Unsupported)?, Ordering::AcqRel);
        }
        stream.write_all(bytes).await?;
    }
}

/// What is there, and when the last of it arrived.
fn receive(stream: &TcpStream, space: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut parts = [IoSliceMut::new(space)];
    let mut control = cmsg_space!(TimeSpec);
    let message = recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_DONTWAIT)?;
    let arrived = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmTimestampns(time) => {
            u64::try_from(time.tv_sec() * 1_000_000_000 + time.tv_nsec()).ok()
        }
        _ => None,
    });
    Ok((message.bytes, arrived))
}
