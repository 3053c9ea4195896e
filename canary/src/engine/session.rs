//! A run: workers for each level, phase after phase, and what they said put together.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::job::{Job, PhaseJob, Privilege};
use super::{Event, Harness, Line, Order, Outcome, Stage};
use crate::probe::{Level, Moment};
use crate::surroundings::Surroundings;

/// After this a worker is given up: its probes have limits of their own, all under it.
const WORKER: Duration = Duration::from_secs(120);
/// How long probes may take to get ready for a switch.
const READY: Duration = Duration::from_secs(20);

/// Why a run could not be carried out.
#[derive(Debug, Error)]
pub enum SessionError {
    /// A worker can't be started.
    #[error("a worker for level {level} can't be started")]
    Start {
        /// As whom.
        level: Level,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A worker ended too early, or too late.
    #[error("the worker for level {level} in phase {phase} {what}")]
    Worker {
        /// As whom.
        level: Level,
        /// When.
        phase: String,
        /// What it did.
        what: String,
    },
    /// The harness did not do its part.
    #[error("the phase did not become {phase}: {why}")]
    Switch {
        /// Which.
        phase: String,
        /// Why.
        why: String,
    },
}

/// What the harness does between the stages.
pub trait Steps {
    /// Sees to it that this phase is in force, and returns then.
    fn to(&mut self, phase: &str) -> Result<(), String>;

    /// Sees to it that the sidecar is killed, and returns then.
    fn kill(&mut self) -> Result<(), String>;

    /// So many of so many probes are over, of this phase or moment.
    fn progress(&mut self, what: &str, over: usize, all: usize);
}

/// How the program is started again as a worker.
#[derive(Debug, Clone)]
pub struct Again {
    /// The program.
    pub program: OsString,
    /// Words before `worker`.
    pub words: Vec<OsString>,
}

/// Whether anything is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A sidecar: the trial itself.
    Guarded,
    /// Nothing: the baseline. There are no switches in it.
    Open,
}

/// Carries a job out.
pub fn run(job: &Job, again: &Again, way: Way, steps: &mut impl Steps) -> Result<Vec<Stage>, SessionError> {
    let harness = Harness { switches: job.phases.len() > 1 && way == Way::Guarded, kills: job.kills };
    let mut stages = Vec::new();
    let mut across = Vec::new();
    // Where nothing is in the way the last phase stands for all: its aims hold those of the others.
    let first = if way == Way::Open { job.phases.len().saturating_sub(1) } else { 0 };
    for (position, phase) in job.phases.iter().enumerate().skip(first) {
        if position > 0 && way == Way::Guarded {
            across = begin(job, again, phase, Moment::Switch, harness)?;
            across.iter_mut().try_for_each(Worker::until_ready)?;
        }
        if way == Way::Guarded {
            let switched = steps.to(&phase.name);
            switched.map_err(|why| SessionError::Switch { phase: phase.name.clone(), why })?;
        }
        for worker in &mut across {
            worker.tell(Event::Switched);
        }
        let switch = format!("{}, across the switch", phase.name);
        stages.extend(collect(std::mem::take(&mut across), &switch, steps)?);
        let workers = begin(job, again, phase, Moment::Phase, harness)?;
        stages.extend(collect(workers, &phase.name, steps)?);
    }
    if let (true, Way::Guarded, Some(phase)) = (job.kills, way, job.phases.last()) {
        let mut workers = begin(job, again, phase, Moment::Crash, harness)?;
        workers.iter_mut().try_for_each(Worker::until_ready)?;
        steps
            .kill()
            .map_err(|why| SessionError::Switch { phase: "after the sidecar was killed".to_owned(), why })?;
        for worker in &mut workers {
            worker.tell(Event::Killed);
        }
        stages.extend(collect(workers, "after the sidecar was killed", steps)?);
    }
    for stage in &mut stages {
        stage.run.clone_from(&job.run);
    }
    Ok(stages)
}

fn begin(
    job: &Job,
    again: &Again,
    phase: &PhaseJob,
    moment: Moment,
    harness: Harness,
) -> Result<Vec<Worker>, SessionError> {
    let order = |level: Level, privilege: &Privilege| Order {
        phase: phase.name.clone(),
        level,
        moment,
        targets: phase.targets.clone(),
        harness,
        only: job.only.clone(),
        keep: privilege.keep.clone(),
    };
    let each = job.levels.iter();
    each.map(|(level, privilege)| Worker::start(order(*level, privilege), privilege, again)).collect()
}

/// A worker at work.
struct Worker {
    order: Order,
    child: Child,
    input: ChildStdin,
    lines: Receiver<Line>,
    surroundings: Option<Surroundings>,
    probes: usize,
    outcomes: Vec<Outcome>,
}

impl Worker {
    fn start(order: Order, privilege: &Privilege, again: &Again) -> Result<Self, SessionError> {
        let level = order.level;
        let failed = |source| SessionError::Start { level, source };
        let mut command = Command::new(&again.program);
        command.args(&again.words).arg("worker").stdin(Stdio::piped()).stdout(Stdio::piped());
        if nix::unistd::geteuid().is_root() {
            // Its own group's too: std drops the supplementary groups when the user changes.
            command.gid(privilege.gid).uid(privilege.uid);
        }
        let mut child = command.spawn().map_err(failed)?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let mut text = serde_json::to_vec(&order).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        input.write_all(&text).map_err(failed)?;
        let (said, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // A line that is not understood ends the conversation: the worker is then short of outcomes, which is seen.
                let Ok(line) = serde_json::from_str(&line) else { return };
                if said.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { order, child, input, lines, surroundings: None, probes: 0, outcomes: Vec::new() })
    }

    /// Waits until all its probes have done what comes before the event.
    fn until_ready(&mut self) -> Result<(), SessionError> {
        let end = Instant::now() + READY;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Line::Waiting) => return Ok(()),
                Ok(line) => self.hear(line),
                // With no probe to try it has ended.
                Err(RecvTimeoutError::Disconnected) if self.probes == 0 && self.surroundings.is_some() => {
                    return Ok(());
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.fault("ended while others wait for it"));
                }
                Err(RecvTimeoutError::Timeout) => return Err(self.fault("did not get ready")),
            }
        }
    }

    fn hear(&mut self, line: Line) {
        match line {
            Line::Begun { surroundings, probes } => {
                self.surroundings = Some(*surroundings);
                self.probes = probes;
            }
            Line::Waiting => {}
            Line::Over(outcome) => self.outcomes.push(*outcome),
        }
    }

    fn tell(&mut self, event: Event) {
        // One that has ended needs no telling.
        if let Ok(text) = serde_json::to_string(&event) {
            let _ = self.input.write_all(format!("{text}\n").as_bytes());
        }
    }

    fn over(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.skipped.is_none()).count()
    }

    fn fault(&self, what: &str) -> SessionError {
        let Order { level, phase, .. } = &self.order;
        SessionError::Worker { level: *level, phase: phase.clone(), what: what.to_owned() }
    }

    /// What it has done; an error if it is not all of it.
    fn into_stage(mut self) -> Result<Stage, SessionError> {
        // Its input ends with it: nothing waits any longer.
        let status =
            self.child.wait().map_err(|error| self.fault(&format!("can't be waited for: {error}")))?;
        let surroundings = self.surroundings.take().ok_or_else(|| self.fault("said nothing"))?;
        if !status.success() || self.over() != self.probes {
            let what = format!("ended ({status}) after {} of {} probes", self.over(), self.probes);
            return Err(self.fault(&what));
        }
        let (mut outcomes, Order { phase, level, moment, .. }) =
            (std::mem::take(&mut self.outcomes), self.order.clone());
        let place = |id: &str| crate::catalogue().position(|probe| probe.id == id).unwrap_or(usize::MAX);
        outcomes.sort_by_key(|outcome| place(&outcome.id));
        Ok(Stage { phase, level, moment, run: String::new(), policy: None, surroundings, outcomes })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Only one that is given up is still alive.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// `what` is what people are told that they are about.
fn collect(workers: Vec<Worker>, what: &str, steps: &mut impl Steps) -> Result<Vec<Stage>, SessionError> {
    let end = Instant::now() + WORKER;
    let mut at_work: BTreeMap<usize, Worker> = workers.into_iter().enumerate().collect();
    let mut stages = Vec::new();
    let (mut over, mut ended_probes) = (0, 0);
    while !at_work.is_empty() {
        let mut ended = Vec::new();
        for (place, worker) in &mut at_work {
            match worker.lines.recv_timeout(Duration::from_millis(10)) {
                Ok(line) => worker.hear(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => ended.push(*place),
            }
            if Instant::now() >= end {
                return Err(worker.fault("took too long"));
            }
        }
        let now = ended_probes + at_work.values().map(Worker::over).sum::<usize>();
        let all = ended_probes + at_work.values().map(|worker| worker.probes).sum::<usize>();
        if now != over {
            over = now;
            steps.progress(what, over, all);
        }
        for place in ended {
            if let Some(worker) = at_work.remove(&place) {
                ended_probes += worker.over();
                stages.push(worker.into_stage()?);
            }
        }
    }
    stages.sort_by_key(|stage| stage.level);
    Ok(stages)
}
