//! Moves the bytes of the control socket: one task a client, none of which can hold up another.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::coop::consume_budget;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::desk::{Desk, Done};
use super::fault::{Fault, Word};
use super::lines::Lines;
use super::message::{self, NoRequest, Request};
use super::method::Method;
use crate::outer::log::{Entry, Follower, Heard};
use crate::outer::stop::Stop;
use crate::outer::{Caller, Outer};

/// Clients at once. One more takes the seat of the one that has been silent for longest.
const SEATS: usize = 64;

/// How long a client may take to receive an answer.
const TAKE: Duration = Duration::from_secs(10);

/// How long a stranger is heard out.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long nobody is accepted when there is no descriptor for another client.
const BACKOFF: Duration = Duration::from_millis(50);

/// How often a follower that has ended its own side is looked at.
const STILL_THERE: Duration = Duration::from_secs(1);

/// What is read at once.
const CHUNK: usize = 16 * 1024;

/// Serves until `stop`; then everything is hung up.
pub(super) async fn serve(listener: UnixListener, owner: u32, outer: Arc<Outer>, mut stop: Stop) {
    let desk = Desk::new(outer);
    let mut clients = JoinSet::new();
    let mut seats = Seats::default();
    loop {
        tokio::select! {
            () = stop.told() => break,
            Some(_) = clients.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let heard = Arc::new(Mutex::new(Instant::now()));
                    let client = Client { desk: desk.clone(), stream, heard: Arc::clone(&heard) };
                    seats.take(heard, clients.spawn(client.serve(owner)));
                }
                Err(error) => {
                    tracing::warn!(%error, "the control socket accepts nobody");
                    sleep(BACKOFF).await;
                }
            },
        }
    }
    clients.shutdown().await;
}

/// Who is served now.
#[derive(Debug, Default)]
struct Seats(Vec<(Arc<Mutex<Instant>>, AbortHandle)>);

impl Seats {
    fn take(&mut self, heard: Arc<Mutex<Instant>>, task: AbortHandle) {
        self.0.retain(|(_, task)| !task.is_finished());
        if self.0.len() >= SEATS {
            let when = |heard: &Mutex<Instant>| *heard.lock().unwrap_or_else(PoisonError::into_inner);
            let silent = self.0.iter().enumerate().min_by_key(|(_, (heard, _))| when(heard));
            if let Some((silent, _)) = silent {
                let (_, task) = self.0.swap_remove(silent);
                task.abort();
            }
        }
        self.0.push((heard, task));
    }
}

/// One client.
struct Client {
    desk: Desk,
    stream: UnixStream,
    /// When it last said a whole line.
    heard: Arc<Mutex<Instant>>,
}

impl Client {
    /// Ends when the client has gone, or is to go.
    async fn serve(self, owner: u32) {
        match self.caller() {
            Ok(caller) if caller.uid == owner || caller.uid == 0 => {
                // An error is the client's end.
                let _ = self.converse(caller).await;
            }
            _ => {
                // An error is the client's end, which is near in any case.
                let _ = timeout(FAREWELL, self.turn_away()).await;
            }
        }
    }

    /// Tells a stranger no, and hears it out: closing with something unread would take the answer back.
    async fn turn_away(&self) -> io::Result<()> {
        let message = "only the user who started closedbook is answered here";
        self.write(&message::answer(Value::Null, Err(Fault::new(Word::NotPermitted, message)))).await?;
        let mut unheard = Lines::default();
        while self.read(&mut unheard).await? > 0 {
            unheard = Lines::default();
        }
        Ok(())
    }

    fn caller(&self) -> io::Result<Caller> {
        let peer = self.stream.peer_cred()?;
        Ok(Caller { uid: peer.uid(), pid: peer.pid() })
    }

    async fn converse(&self, caller: Caller) -> io::Result<()> {
        let mut lines = Lines::default();
        let mut follower: Option<Follower> = None;
        let mut ended = false;
        loop {
            while let Some(line) = lines.next() {
                self.hear(line, caller, &mut follower).await?;
                consume_budget().await;
            }
            if ended && follower.is_none() {
                return Ok(());
            }
            tokio::select! {
                count = self.read(&mut lines), if !ended => {
                    ended = count? == 0;
                    if ended && let Some(last) = lines.rest() {
                        self.hear(Ok(last), caller, &mut follower).await?;
                    }
                }
                heard = next(&mut follower) => match heard {
                    // A client that does not read is waited for: it misses records, and is told how many.
                    Some(Heard::Record(entry)) => self.write(&record(&entry)).await?,
                    Some(Heard::Missed(records)) => {
                        self.write(&message::notification("log.missed", &json!({ "records": records }))).await?;
                    }
                    None => follower = None,
                },
                () = self.hung_up(), if ended => return Ok(()),
            }
        }
    }

    /// Does what one line says, and answers it.
    async fn hear(
        &self,
        line: Result<Vec<u8>, Fault>,
        caller: Caller,
        follower: &mut Option<Follower>,
    ) -> io::Result<()> {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let request = match line.map(|line| (line.len(), Request::parse(&line))) {
            Ok((length, Ok(request))) => (length, request),
            Ok((_, Err(NoRequest { id, fault }))) => return self.answer(Some(id), Err(fault)).await,
            Err(fault) => return self.answer(Some(Value::Null), Err(fault)).await,
        };
        let (length, Request { id, method, params }) = request;
        let done = match Method::read(&method, params, length) {
            Ok(Method::LogFollow { .. }) if follower.is_some() => {
                Err(Fault::new(Word::AlreadyFollowing, "this connection follows the log already"))
            }
            Ok(method) => self.desk.serve(method, caller).await,
            Err(fault) => Err(fault),
        };
        match done {
            Ok(Done::Answer(result)) => self.answer(id, Ok(result)).await,
            Ok(Done::Follow { answer, past, follower: next }) => {
                self.answer(id, Ok(answer)).await?;
                for entry in past {
                    self.write(&record(&entry)).await?;
                }
                *follower = next;
                Ok(())
            }
            Ok(Done::Shutdown(result)) => {
                let answered = self.answer(id, Ok(result)).await;
                self.desk.shut_down();
                answered
            }
            Err(fault) => self.answer(id, Err(fault)).await,
        }
    }

    /// A notification is not answered, whatever comes of it.
    async fn answer(&self, id: Option<Value>, answer: Result<Value, Fault>) -> io::Result<()> {
        let Some(id) = id else { return Ok(()) };
        let line = message::answer(id, answer);
        timeout(TAKE, self.write(&line)).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
    }

    async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.writable().await?;
            match self.stream.try_write(bytes) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn read(&self, lines: &mut Lines) -> io::Result<usize> {
        let mut buffer = [0; CHUNK];
        loop {
            self.stream.readable().await?;
            match self.stream.try_read(&mut buffer) {
                Ok(count) => {
                    lines.push(buffer.get(..count).unwrap_or_default());
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends when the client, which says nothing more, hears nothing more either.
    async fn hung_up(&self) {
        loop {
            match self.stream.ready(Interest::WRITABLE).await {
                Ok(ready) if !ready.is_write_closed() => sleep(STILL_THERE).await,
                _ => return,
            }
        }
    }
}

async fn next(follower: &mut Option<Follower>) -> Option<Heard> {
    match follower {
        Some(follower) => follower.next().await,
        None => std::future::pending().await,
    }
}

fn record(entry: &Entry) -> Vec<u8> {
    // Strings and numbers: they can be written.
    message::notification("log.record", &serde_json::to_value(entry).unwrap_or_default())
}
