//! One connection, from accept to its record: the walk that every byte of the task takes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use closedbook_policy::{Attempt, Evidence, Permit, Phase, Reason, Refusal};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::copy::{End, copy};
use super::http::answer::Answer;
use super::limits::room::Stay;
use super::log::{Kind, Record};
use super::metrics::Limit;
use super::prefix::{self, Prefix};
use super::refuse::{Tongue, refuse, say};
use super::ruling::{Claim, Leash, Line};
use super::socket::Socket;
use super::{Outer, http, original};

#[cfg(test)]
mod tests;

/// From accept to whole evidence. As long as the slowest of the surveyed proxies that anybody could live with; a real
/// client needs a millisecond.
const HELLO: Duration = Duration::from_secs(5);

/// How long a connection to a port that nothing permits is listened to, only to learn its name for the log. Clients of
/// protocols in which the server speaks first would wait for as long (G11).
const CURIOSITY: Duration = Duration::from_millis(25);

/// Serves one accepted connection.
pub(crate) async fn serve(outer: Arc<Outer>, stream: TcpStream, mut stay: Stay) {
    let accepted = Instant::now();
    let phase = outer.ruling.now();
    let (aimed_at, listener) = ((outer.original)(&stream), stream.local_addr());
    let record = outer.record(stream.peer_addr().ok(), aimed_at.as_ref().ok(), Arc::clone(&phase)).await;
    // From here on every way out resets the connection, unless it says otherwise.
    let client = Socket::new(stream);
    let Ok(mut record) = record else { return };
    let of_the_task = record.is_of_the_task();
    if !of_the_task {
        // A crowd of slow clients does not make the self-test fail.
        stay.settled();
    }
    let client = match client {
        Ok(client) => client,
        Err(error) => return record.deny(&prefix::lost(&error)),
    };
    let original = match original::judge(aimed_at, listener) {
        Ok(original) => original,
        Err(refusal) => return record.deny(&refusal),
    };
    record.note(|entry| {
        entry.original = Some(original);
        entry.port = Some(original.port());
    });

    if let Some(permit) = without_a_word(&outer, &phase, original) {
        record.decided(&phase);
        return match place(&outer, stay) {
            Ok(_place) => carry(&outer, record, client, permit, Vec::new()).await,
            Err(refusal) => record.deny(&refusal),
        };
    }

    let open = phase.port_open(original.port());
    // The self-test's hello comes, however late on a machine that has much to do, and where nothing is permitted too.
    let deadline = accepted + if open || !of_the_task { HELLO } else { CURIOSITY };
    let (client, prefix) = match listen(&outer, record.id(), original, client, deadline, &mut stay).await {
        Ok(heard) => heard,
        Err(cut) => return record.cut(&cut),
    };
    let Prefix { bytes, evidence, unasked } = prefix;
    if of_the_task {
        outer.metrics.hello.observe(accepted.elapsed().as_secs_f64());
    }
    record.note(|entry| entry.noise = open && unasked);
    match &evidence {
        Ok(evidence) => describe(&mut record, evidence),
        Err(_) => record.note(|entry| entry.kind = Tongue::of(&bytes).into()),
    }
    // The phase may have changed while the client was talking.
    let phase = outer.ruling.now();
    record.decided(&phase);
    if !phase.port_open(original.port()) {
        let detail = format!("phase {} permits nothing on port {}", phase.name(), original.port());
        let refusal = Refusal::new(Reason::PortNotAllowed, detail);
        record.deny(&refusal);
        if let Ok(Evidence::Http(request)) = &evidence {
            let answer = Answer::new(&refusal, &bytes).remedy(request, original.port(), phase.name());
            return say(&client, &answer.into_bytes()).await;
        }
        return refuse(client, &bytes, &refusal).await;
    }
    let refusal = match evidence {
        // Request by request, the first included.
        Ok(Evidence::Http(_)) => match place(&outer, stay) {
            Ok(_place) => return Box::pin(http::serve(&outer, client, original, bytes, record)).await,
            Err(refusal) => refusal,
        },
        Ok(evidence) => match decide(&outer, &phase, Attempt { evidence, original }) {
            Ok(permit) => match place(&outer, stay) {
                Ok(_place) => return carry(&outer, record, client, permit, bytes).await,
                Err(refusal) => refusal,
            },
            Err(refusal) => refusal,
        },
        Err(refusal) => refusal,
    };
    record.deny(&refusal);
    refuse(client, &bytes, &refusal).await;
}

/// The decision, timed.
pub(super) fn decide(outer: &Outer, phase: &Arc<Phase>, attempt: Attempt) -> Result<Permit, Refusal> {
    let began = Instant::now();
    let decided = phase.decide(attempt);
    outer.metrics.decision.observe(began.elapsed().as_secs_f64());
    decided
}

/// From the waiting room to a place of its own, if there is one.
fn place(outer: &Outer, stay: Stay) -> Result<OwnedSemaphorePermit, Refusal> {
    let place = Arc::clone(&outer.flows).try_acquire_owned();
    drop(stay);
    place.map_err(|_| outer.metrics.hit(Limit::Flows))
}

/// Reads until there is evidence, or until a switch of phase closes the port.
async fn listen(
    outer: &Arc<Outer>,
    id: u64,
    original: SocketAddr,
    client: Socket,
    deadline: Instant,
    stay: &mut Stay,
) -> Result<(Socket, Prefix), Refusal> {
    // Dropped after the client's socket, see below.
    let leash = Leash::new();
    let client = client;
    // On a port that is closed already nothing is held: the refusal comes of itself.
    let _held = outer.ruling.hold(id, Claim::Hello(original), &leash);
    tokio::select! {
        biased;
        cut = leash.cut() => Err(cut),
        prefix = prefix::read(&client, deadline, stay, &outer.metrics) => Ok((client, prefix)),
    }
}

/// A connection to the address that was handed out for a name of a `tcp://` entry: the address is the evidence, since
/// such a server may speak first.
fn without_a_word(outer: &Outer, phase: &Arc<Phase>, original: SocketAddr) -> Option<Permit> {
    let name = outer.leases.name(original.ip())?;
    let carries = phase.tcp_names(original.port()).any(|entry| *entry == name);
    let attempt = Attempt { evidence: Evidence::Tcp(name), original };
    carries.then(|| phase.decide(attempt).ok()).flatten()
}

pub(super) fn describe(record: &mut Record, evidence: &Evidence) {
    let (kind, name) = match evidence {
        Evidence::Tls(hello) => (Kind::Tls, hello.server_name.as_ref().map(ToString::to_string)),
        Evidence::Http(request) => (Kind::Http, Some(request.host.to_string())),
        Evidence::Tcp(name) => (Kind::Tcp, Some(name.to_string())),
    };
    record.note(|entry| {
        entry.kind = kind;
        entry.name = name.map(Into::into);
    });
}

/// Dials what was permitted, replays what was read, and copies until both sides are done.
async fn carry(outer: &Arc<Outer>, mut record: Record, client: Socket, permit: Permit, prefix: Vec<u8>) {
    // Dropped last, when both sockets are closed: a switch waits for exactly that. Of what a function has, its
    // arguments go last, so the client's socket becomes a local value.
    let leash = Leash::new();
    let client = client;
    let (permit, flow) = match outer.ruling.admit(record.id(), permit, &leash) {
        Ok(admitted) => admitted,
        Err(refusal) => {
            record.deny(&refusal);
            return refuse(client, &prefix, &refusal).await;
        }
    };
    describe(&mut record, &permit.attempt().evidence);
    record.decided(permit.phase());
    record.note(|entry| entry.rule = Some(permit.rule().into()));

    let dialled = tokio::select! {
        biased;
        cut = leash.cut() => return record.cut(&cut),
        () = client.lost() => return record.allow_with("the client left before the server had answered"),
        dialled = Box::pin(outer.dialler.dial(permit)) => dialled,
    };
    let dialled = match dialled {
        Ok(dialled) => dialled,
        Err(refusal) => {
            drop(flow);
            if let Some(cut) = leash.pulled() {
                return record.cut(&cut);
            }
            record.deny(&refusal);
            drop(leash);
            return refuse(client, &prefix, &refusal).await;
        }
    };
    record.note(|entry| entry.dialled = Some(dialled.address));

    let (client, server) = (Arc::new(client), Arc::new(dialled.server));
    let moved = Arc::clone(record.moved());
    let line = Line { client: Arc::clone(&client), server: Arc::clone(&server), moved: Arc::clone(&moved) };
    if let Err(cut) = flow.reached(dialled.address, line) {
        return record.cut(&Refusal::new(Reason::PhaseChanged, cut.detail));
    }
    record.opened();
    let end = tokio::select! {
        biased;
        cut = leash.cut() => Err(cut),
        end = async {
            if server.write_all(&prefix).await.is_err() {
                return End::Broken;
            }
            moved.up.fetch_add(prefix.len() as u64, Ordering::Relaxed);
            drop(prefix);
            let end = copy(&client, &server, &moved, &outer.pipes).await;
            // What the kernel holds is under way still, and a switch must be able to stop it.
            if end == End::Finished {
                server.delivered().await;
            }
            end
        } => Ok(end),
    };
    if !matches!(end, Ok(End::Finished)) {
        // Out of the registry, nothing may be under way.
        server.abort();
    }
    let end = flow.end(&leash, end).await;
    if let Ok(End::Finished) = end {
        client.settle();
        server.settle();
    }
    drop((client, server));
    match end {
        Ok(End::Finished) => record.allow(),
        Ok(End::Broken) => record.allow_with("reset by one side"),
        Err(cut) => record.cut(&cut),
    }
}
