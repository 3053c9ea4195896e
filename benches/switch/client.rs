//! Sealed: thousands of connections, each with one message under way at all times, half of them to the host that will be
//! forbidden.

use std::cell::Cell;
use std::io::{self, BufRead};
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::sleep;

use crate::Result;
use crate::wire::{CUT, CUT_PORT, HELLO, KEPT, KEPT_PORT, MESSAGE, message, other_hello};

/// Connections that are made at the same time.
const AT_ONCE: usize = 512;

/// How a connection has ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// By a reset.
    Reset,
    /// All that was sent came back.
    Whole,
    /// Something else.
    Other,
}

/// Does what the lines of stdin say: `open` makes the forbidden half anew, `settle` waits for its end, `end` ends the other
/// half and compares.
pub(crate) fn run(flows: usize, pause: usize) -> Result<()> {
    let pause = Duration::from_millis(pause as u64);
    let (orders, mut heard) = mpsc::unbounded_channel();
    thread::spawn(move || {
        io::stdin().lock().lines().map_while(io::Result::ok).try_for_each(|line| orders.send(line))
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async move {
        let half = flows / 2;
        let over = Rc::new(Over::default());
        let mut kept = crowd(half, address(KEPT, KEPT_PORT)?, HELLO.into(), pause, &over).await?;
        let mut cut = JoinSet::new();
        println!("ready");
        while let Some(order) = heard.recv().await {
            match order.as_str() {
                "open" => {
                    cut = crowd(half, address(CUT, CUT_PORT)?, other_hello()?.into(), pause, &over).await?;
                    println!("open");
                }
                "settle" => println!("{}", ends(&mut cut, &End::Reset).await),
                "end" => {
                    over.say();
                    println!("{}", ends(&mut kept, &End::Whole).await);
                }
                other => return Err(format!("unknown order {other:?}").into()),
            }
        }
        Ok(())
    })
}

/// How many ended like this.
async fn ends(crowd: &mut JoinSet<End>, wanted: &End) -> usize {
    let mut count = 0;
    while let Some(ended) = crowd.join_next().await {
        count += usize::from(ended.is_ok_and(|end| end == *wanted));
    }
    count
}

/// So many connections, each of which has had its first answer.
async fn crowd(
    count: usize,
    to: SocketAddr,
    hello: Rc<[u8]>,
    pause: Duration,
    over: &Rc<Over>,
) -> Result<JoinSet<End>> {
    let places = std::sync::Arc::new(Semaphore::new(AT_ONCE));
    let (ready, mut readied) = mpsc::unbounded_channel();
    let mut crowd = JoinSet::new();
    for flow in 0..count {
        let (places, ready, hello, over) = (places.clone(), ready.clone(), hello.clone(), over.clone());
        crowd.spawn_local(async move {
            let Ok(place) = places.acquire_owned().await else { return End::Other };
            let made = make(to, &hello, flow).await;
            drop(place);
            let _ = ready.send(made.as_ref().map(drop).map_err(io::Error::to_string));
            drop(ready);
            match made {
                Ok(stream) => keep_busy(stream, flow, pause, &over).await,
                Err(_) => End::Other,
            }
        });
    }
    drop(ready);
    while let Some(made) = readied.recv().await {
        made.map_err(|error| format!("a connection was not made: {error}"))?;
    }
    Ok(crowd)
}

async fn make(to: SocketAddr, hello: &[u8], flow: usize) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    stream.write_all(hello).await?;
    exchange(&mut stream, flow, 0).await?;
    Ok(stream)
}

async fn keep_busy(mut stream: TcpStream, flow: usize, pause: Duration, over: &Over) -> End {
    let mut number = 1;
    while !over.is_said() {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        match exchange(&mut stream, flow, number).await {
            Ok(()) => number += 1,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return End::Reset,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return End::Reset,
            Err(_) => return End::Other,
        }
    }
    End::Whole
}

async fn exchange(stream: &mut TcpStream, flow: usize, number: u64) -> io::Result<()> {
    let sent = message(flow, number);
    stream.write_all(&sent).await?;
    let mut back = [0; MESSAGE];
    stream.read_exact(&mut back).await?;
    if back == sent { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn address(name: &str, port: u16) -> Result<SocketAddr> {
    let found = (name, port).to_socket_addrs()?.find(SocketAddr::is_ipv4);
    found.ok_or_else(|| format!("{name} has no IPv4 address").into())
}

/// Whether the connections should end.
#[derive(Default)]
struct Over(Cell<bool>);

impl Over {
    fn say(&self) {
        self.0.set(true);
    }

    fn is_said(&self) -> bool {
        self.0.get()
    }
}
