//! The canary in the lab: the baseline and the trial, side by side, then a last word to the witness.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use closedbook_canary::engine::job::Job;
use closedbook_canary::engine::{Harness, Order};
use closedbook_canary::report::evidence::{Baseline, Evidence};
use closedbook_canary::targets::Witness;
use closedbook_canary::witness::{Arrival, Record};
use closedbook_canary::{Level, Moment};
use closedbook_lab::{self as lab, Control, LabError, LabName, Plan, World};
use closedbook_policy::{Pattern, Policy, Target};

use super::job::Wanted;
use super::trial::{self, Trial};
use crate::exit::{Failure, chain};
use crate::scratch::Scratch;

/// Does it.
pub(super) fn run(wanted: &Wanted, scratch: &Scratch) -> Result<Evidence, Failure> {
    eprintln!("canary: two labs start: fake internets on this machine, from which nothing leaves");
    // One for the trial and one for the baseline, so that neither's witness ever sees the other's.
    let (closed, open) = (Uplink::start(wanted)?, Uplink::start(wanted)?);
    let job = wanted.job(Some(witness()), Some(closed.trust()?), true)?;
    let mut openly = job.clone();
    let trust = open.trust()?;
    openly.phases.iter_mut().for_each(|phase| phase.targets.trust = Some(trust.clone()));
    eprintln!("canary: every probe is tried where nothing is in its way, and in a trial, sealed");
    let (baseline, guarded) = std::thread::scope(|scope| {
        let baseline = scope.spawn(|| {
            let tried = trial::baseline(in_lab(&open.name), &openly)?;
            Ok(Baseline { stages: tried.stages, witness: open.record(true)? })
        });
        let uplink = vec!["--lab-name".to_owned(), closed.name.to_string()];
        let guarded = Trial { uplink, policy: wanted.policy.to_json(), job: &job, scratch }.run();
        let baseline = baseline.join().unwrap_or_else(|_| Err(Failure::bug("the baseline ended by a panic")));
        (baseline, guarded)
    });
    let (open, guarded) = (baseline?, guarded?);
    // Its own record can be believed if it still writes down what arrives.
    let last_word = last_word(&closed.name, &job)?;
    let mut seen = closed.record(false)?;
    seen.alive = last_word.iter().any(|nonce| seen.arrivals.iter().any(|arrival| arrival.carries(nonce)));
    Ok(Evidence { baseline: Some(open), witness: Some(seen), ..guarded })
}

/// A lab, and what it is called.
struct Uplink {
    lab: lab::Lab,
    name: LabName,
}

impl Uplink {
    fn start(wanted: &Wanted) -> Result<Self, Failure> {
        let name = LabName::fresh();
        let plan = Plan { name: name.clone(), world: world(&wanted.policy), faults: wanted.faults.clone() };
        Ok(Self { lab: lab::Lab::start(plan).map_err(cannot_start)?, name })
    }

    /// Its certificate, PEM.
    fn trust(&self) -> Result<String, Failure> {
        let ca = self.lab.place().ca();
        std::fs::read_to_string(&ca)
            .map_err(|error| Failure::bug(format!("the lab's certificate {}: {error}", ca.display())))
    }

    /// What its witness wrote down so far.
    fn record(&self, alive: bool) -> Result<Record, Failure> {
        let mut control = Control::connect(self.lab.place()).map_err(untold)?;
        let arrivals = control.arrivals().map_err(untold)?;
        let lost = control.ask("lost").map_err(untold)?.as_u64().unwrap_or(u64::MAX);
        let plain = serde_json::to_value(arrivals).and_then(serde_json::from_value::<Vec<Arrival>>);
        let arrivals = plain.map_err(|error| Failure::bug(format!("the witness's record: {error}")))?;
        Ok(Record { arrivals, lost, alive, others: 0 })
    }
}

/// The lab as the canary's witness.
fn witness() -> Witness {
    Witness {
        name: lab::WITNESS.to_owned(),
        v4: Some(lab::WITNESS_V4),
        v6: Some(lab::WITNESS_V6),
        quiet: Some(lab::QUIET_V4),
        zone: Some(lab::WITNESS_ZONE.to_owned()),
        resolver: Some(lab::RESOLVER_V4.into()),
    }
}

/// The built-in names, and whatever else the policy permits.
fn world(policy: &Policy) -> World {
    let entries = policy.phases().flat_map(|phase| phase.entries().to_vec());
    let names = entries.filter_map(|entry| match entry.target() {
        Target::Names(Pattern::Exact(name)) => Some(name.clone()),
        _ => None,
    });
    names.fold(World::new(), World::with_host)
}

/// This program, inside the lab.
fn in_lab(name: &LabName) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["lab", "exec", "--name", &name.to_string(), "--", "/proc/self/exe"]);
    command
}

/// Sends the witness something, past the sidecar; its marks.
fn last_word(name: &LabName, job: &Job) -> Result<Vec<closedbook_canary::Nonce>, Failure> {
    let fault =
        |error: &dyn std::fmt::Display| Failure::bug(format!("the last word to the witness: {error}"));
    let Some(phase) = job.phases.last() else { return Ok(Vec::new()) };
    let order = Order {
        phase: phase.name.clone(),
        level: Level::Agent,
        moment: Moment::Phase,
        targets: phase.targets.clone(),
        harness: Harness::default(),
        only: vec!["http-plain-unfiltered".to_owned()],
        keep: None,
    };
    let mut command = in_lab(name);
    command.args(["canary", "worker"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| fault(&error))?;
    let line = serde_json::to_string(&order).map_err(|error| fault(&error))?;
    if let Some(input) = &mut child.stdin {
        writeln!(input, "{line}").map_err(|error| fault(&error))?;
    }
    let mut nonces = Vec::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Ok(closedbook_canary::engine::Line::Over(outcome)) = serde_json::from_str(&line) {
                nonces.extend(outcome.tries.into_iter().map(|made| made.nonce));
            }
        }
    }
    child.wait().map_err(|error| fault(&error))?;
    Ok(nonces)
}

fn untold(error: LabError) -> Failure {
    Failure::inconclusive(format!("the lab does not tell what it saw: {}", chain(&error)))
}

fn cannot_start(error: LabError) -> Failure {
    Failure::host(format!("the lab can't start: {}", chain(&error)))
}
