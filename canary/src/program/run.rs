//! `canary run`: inside the trial.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::aim::AimFlags;
use super::control::FollowControl;
use super::{Stop, now};
use crate::engine::job::Job;
use crate::engine::session::{self, Again, Steps, Way};
use crate::report::evidence::Evidence;
use crate::report::judgement::judge;

/// Longest job that is read: a policy of thousands of hosts is far below.
const LONGEST_JOB: u64 = 8 << 20;

/// Try the probes, from inside the trial, and write down what was seen.
///
/// What was seen is judged by `canary report`, which also takes the witness's record and the baseline. Until then it is judged by
/// what it has alone, which is seldom a pass: that is the exit code, 0 only for a pass, but for --steps and --baseline, which
/// only collect. A run with several phases needs to be told when the next one is in force: by a harness on its standard input and output (--steps), or by the
/// sidecar itself (--phase-from-control).
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The job that `canary plan -o` wrote; `-` takes it from standard input, one line.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "agent_name"])]
    job: Option<PathBuf>,

    #[command(flatten)]
    aim: AimFlags,

    /// Nothing is in the way here: this run is the baseline that the others are compared with.
    #[arg(long)]
    baseline: bool,

    /// Ask for each phase on standard output, as `{"phase":"NAME"}`, and go on when `"done"` comes on standard input.
    #[arg(long, conflicts_with = "phase_from_control")]
    steps: bool,

    /// Wait for each phase by asking the sidecar at this control socket.
    #[arg(long, value_name = "PATH")]
    phase_from_control: Option<PathBuf>,

    /// Seconds to wait for a phase.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    wait: u64,

    /// Write the evidence to this file [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Say nothing while it works.
    #[arg(long, short)]
    quiet: bool,
}

impl Run {
    /// Does it. `again` is how the program is started as a worker.
    pub(super) fn run(self, again: &Again) -> Result<ExitCode, Stop> {
        let mut input = io::BufReader::new(io::stdin());
        let job = self.job(&mut input)?;
        // Before anything is tried: a report that can't be written makes the run worthless.
        let output = self.output.as_deref().map(Output::open).transpose()?;
        let way = if self.baseline { Way::Open } else { Way::Guarded };
        let progress = Progress::new(self.quiet);
        let made = now();
        let ran = match (&self.phase_from_control, self.steps) {
            (Some(path), _) => {
                let mut follow = FollowControl::new(path.clone(), self.wait, progress);
                session::run(&job, again, way, &mut follow)
            }
            (None, true) => session::run(&job, again, way, &mut Harness { input, progress }),
            (None, false) if job.phases.len() > 1 && !self.baseline => {
                return Err(Stop::usage(
                    "a run with several phases has to be told when the next is in force",
                    "--steps, or --phase-from-control PATH; or one --phase",
                ));
            }
            (None, false) => session::run(&job, again, way, &mut Alone { progress }),
        };
        let stages = ran.map_err(|error| Stop::inconclusive(super::chain(&error)))?;
        let Job { run, subject, policy, phases, facts, .. } = job;
        let aims = phases.into_iter().map(|phase| (phase.name, phase.targets)).collect();
        let ended = Some(now());
        let (baseline, witness) = (None, None);
        let evidence =
            Evidence { schema: 1, run, made, ended, subject, policy, aims, stages, baseline, witness, facts };
        // The aims' certificates go; there is no record yet.
        let evidence = evidence.trimmed();
        match output {
            Some(output) => output.write(&evidence)?,
            None => {
                let line = if self.steps { json!({ "evidence": evidence }) } else { json!(evidence) };
                say(&line)
                    .map_err(|error| Stop::inconclusive(format!("the evidence can't be written: {error}")))?;
            }
        }
        if self.steps || self.baseline {
            return Ok(ExitCode::SUCCESS);
        }
        let judgement = judge(&evidence);
        if !self.quiet {
            // A closed terminal is no reason for another exit code.
            let _ = writeln!(
                io::stderr(),
                "canary: {} by what was seen here alone; canary report judges it with --baseline and --arrivals",
                judgement.overall
            );
        }
        Ok(ExitCode::from(judgement.overall.code()))
    }

    fn job(&self, input: &mut impl BufRead) -> Result<Job, Stop> {
        let Some(path) = &self.job else { return self.aim.job() };
        let mut text = String::new();
        let shown = path.display();
        let read = if path.as_os_str() == "-" {
            input.take(LONGEST_JOB).read_line(&mut text)
        } else {
            File::open(path).and_then(|file| file.take(LONGEST_JOB).read_to_string(&mut text))
        };
        let unread = |why: String| {
            Stop::usage(format!("the job {shown} can't be read: {why}"), "canary plan -o FILE writes one")
        };
        read.map_err(|error| unread(error.to_string()))?;
        let job: Job = serde_json::from_str(&text).map_err(|error| unread(error.to_string()))?;
        match job.schema {
            1 => Ok(job),
            other => Err(unread(format!("its schema is {other}, and this canary reads 1"))),
        }
    }
}

/// Where the evidence goes: opened, and shown to be writable, before the first probe.
struct Output {
    file: File,
    path: PathBuf,
}

impl Output {
    fn open(path: &Path) -> Result<Self, Stop> {
        let file = File::create(path).map_err(|error| {
            Stop::usage(
                format!("can't write {}: {error}", path.display()),
                "-o names a file that can be written",
            )
        })?;
        Ok(Self { file, path: path.to_owned() })
    }

    fn write(mut self, evidence: &Evidence) -> Result<(), Stop> {
        let written = serde_json::to_vec(evidence)
            .map_err(io::Error::from)
            .and_then(|text| self.file.write_all(&text))
            .and_then(|()| self.file.write_all(b"\n"))
            // A full disk may be told of only now.
            .and_then(|()| self.file.sync_all());
        written.map_err(|error| {
            // Half a report must not be taken for one; where it can't be emptied it is no JSON either.
            let _ = self.file.set_len(0);
            Stop::inconclusive(format!("the evidence can't be written to {}: {error}", self.path.display()))
        })
    }
}

/// What is said on standard error while it works.
#[derive(Debug)]
pub(super) struct Progress {
    shown: bool,
    terminal: bool,
}

impl Progress {
    fn new(quiet: bool) -> Self {
        Self { shown: !quiet, terminal: io::stderr().is_terminal() }
    }

    /// So many of so many probes of this phase are over.
    pub(super) fn say(&self, phase: &str, over: usize, all: usize) {
        if !self.shown {
            return;
        }
        // A closed terminal is no reason to stop.
        let mut stderr = io::stderr().lock();
        let _ = match (self.terminal, over == all) {
            (true, true) => writeln!(stderr, "\rcanary: {phase}: {all} probes tried   "),
            (true, false) => write!(stderr, "\rcanary: {phase}: {over} of {all} probes tried"),
            (false, true) => writeln!(stderr, "canary: {phase}: {all} probes tried"),
            (false, false) => Ok(()),
        };
    }
}

/// Nobody switches: there is one phase.
struct Alone {
    progress: Progress,
}

impl Steps for Alone {
    fn to(&mut self, _phase: &str) -> Result<(), String> {
        Ok(())
    }

    fn kill(&mut self) -> Result<(), String> {
        Err("there is no harness that kills it".to_owned())
    }

    fn progress(&mut self, phase: &str, over: usize, all: usize) {
        self.progress.say(phase, over, all);
    }
}

/// A harness on standard input and output.
struct Harness<R> {
    input: R,
    progress: Progress,
}

impl<R: BufRead> Harness<R> {
    fn ask(&mut self, what: &serde_json::Value) -> Result<(), String> {
        say(what).map_err(|error| format!("the harness can't be asked: {error}"))?;
        let mut answer = String::new();
        self.input.read_line(&mut answer).map_err(|error| format!("the harness can't be heard: {error}"))?;
        match answer.trim() {
            "\"done\"" => Ok(()),
            "" => Err("the harness has gone".to_owned()),
            other => Err(format!("the harness says {other}")),
        }
    }
}

impl<R: BufRead> Steps for Harness<R> {
    fn to(&mut self, phase: &str) -> Result<(), String> {
        self.ask(&json!({ "phase": phase }))
    }

    fn kill(&mut self) -> Result<(), String> {
        self.ask(&json!({ "kill": true }))
    }

    fn progress(&mut self, phase: &str, over: usize, all: usize) {
        self.progress.say(phase, over, all);
    }
}

fn say(line: &serde_json::Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// How this program is started again: itself, with the words that led here.
pub(super) fn again(words: &[&str]) -> Again {
    // In a container without /proc there is no other way to find oneself; starting it then fails with a message.
    let program =
        std::env::current_exe().map_or_else(|_| OsString::from("/proc/self/exe"), PathBuf::into_os_string);
    Again { program, words: words.iter().map(OsString::from).collect() }
}
