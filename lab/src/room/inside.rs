//! The first process of a lab.

use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use closedbook_kernel::descriptors;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{dup2_stdin, dup2_stdout, setsid};
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use super::place::Place;
use super::{Plan, routes, view};
use crate::{LabError, control, environment, lab};

/// Said when the lock is held and the ids are awaited.
pub(super) const HELD: &str = "held";
/// Said when the servers are listening.
pub(super) const READY: &str = "ready";

/// Descriptors that there is room for from the start: the listeners are about eighty.
const DESCRIPTORS_SOON: u32 = 1024;

/// Runs the lab to its end. What it returns is the process's exit code.
pub(super) fn run(mut lifeline: UnixStream, prepared: &Place, plan: Plan) -> u8 {
    // Before the ids are mapped: files are made by the kernel's own ids, so that does not matter.
    let held = prepared.make();
    let place = prepared.renamed(&plan.name);
    let ended = held.and_then(|lock| {
        let ended = match begin(&mut lifeline) {
            Ok(true) => live(&lifeline, &place, plan),
            done => done.map(drop),
        };
        // Whether it has been published or not; but not what another lab has published under this name.
        prepared.remove();
        if place.is_held_by(&lock) {
            place.remove();
        }
        ended
    });
    match ended {
        Ok(()) => 0,
        Err(error) => {
            // Without a parent there is nobody to tell.
            let _ = say(&mut lifeline, &chain(&error));
            1
        }
    }
}

/// Waits for the ids; false when the parent has gone instead.
fn begin(lifeline: &mut UnixStream) -> Result<bool, LabError> {
    say(lifeline, HELD)?;
    Ok(lifeline.read(&mut [0]).map_err(LabError::Lifeline)? > 0)
}

fn live(lifeline: &UnixStream, place: &Place, plan: Plan) -> Result<(), LabError> {
    step_aside().map_err(LabError::Aside)?;
    // After the change of ids, which clears it; the lifeline covers the time before.
    nix::sys::prctl::set_pdeathsig(Signal::SIGTERM).map_err(|error| LabError::Aside(error.into()))?;
    raise_descriptor_limit();
    // Only faster: where it fails, room is made when it is needed.
    let _ = descriptors::make_room(DESCRIPTORS_SOON);
    routes::lay().map_err(LabError::Routes)?;
    open_ping();
    view::arrange(place)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(LabError::Runtime)?;
    let ended = runtime.block_on(serve(lifeline, place, plan));
    // Not shut down: that would wait for a hash that is being worked out, and hang up on those who wait on the control
    // socket for the end. They are to see it when the process ends, and the directory has gone.
    std::mem::forget(runtime);
    ended
}

/// Lets every user ping, as container engines do. Where it can't be had, only root can.
fn open_ping() {
    let own = nix::unistd::getegid();
    // A group that a user namespace doesn't know can't be in the range.
    let ranges = ["0 2147483647".to_owned(), format!("{own} {own}")];
    let _ = ranges.iter().find(|range| std::fs::write("/proc/sys/net/ipv4/ping_group_range", range).is_ok());
}

async fn serve(lifeline: &UnixStream, place: &Place, plan: Plan) -> Result<(), LabError> {
    let stop = Arc::new(Notify::new());
    let world = plan.world.with_log(place.log());
    let stopped = stop.clone();
    let running = Arc::new(lab::serve(world, async move { stopped.notified().await }).await?);
    for (host, fault) in plan.faults {
        running.faults().set(&host, Some(fault));
    }
    let ca = place.write("ca.pem", running.ca_pem())?;
    place.write("wgetrc", &environment::wgetrc(&ca))?;
    let control = control::serve(&place.control(), running.clone(), stop.clone())?;
    let mut terminate = signal(SignalKind::terminate()).map_err(LabError::Runtime)?;
    let mut stream = lifeline.try_clone().map_err(LabError::Lifeline)?;
    say(&mut stream, READY)?;
    stream.set_nonblocking(true).map_err(LabError::Lifeline)?;
    let mut stream = tokio::net::UnixStream::from_std(stream).map_err(LabError::Lifeline)?;
    let mut word = [0];
    tokio::select! {
        _ = stream.read(&mut word) => {}
        _ = terminate.recv() => {}
        () = running.stopped() => {}
    }
    control.abort();
    Ok(())
}

/// Out of the caller's session: a Ctrl-C there is for the command, and only it may end the lab. Off the caller's
/// standard streams, stderr aside: a pipe must end when the caller does.
fn step_aside() -> std::io::Result<()> {
    // The caller may hold signals back; here they must come.
    SigSet::all().thread_unblock()?;
    // Fails only for the leader of a group, which a fresh child is not.
    let _ = setsid();
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    Ok(())
}

/// One descriptor for each connection; the soft limit is made for programs that use select(2).
pub(crate) fn raise_descriptor_limit() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // What can't be raised is what we had.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

fn say(lifeline: &mut UnixStream, line: &str) -> Result<(), LabError> {
    lifeline.write_all(format!("{line}\n").as_bytes()).map_err(LabError::Lifeline)
}

fn chain(error: &LabError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text.replace('\n', " ")
}
