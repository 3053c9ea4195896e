//! A trial with the canary as its command: switched and, in the lab, robbed of its sidecar, as the canary asks.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use closedbook_canary::engine::job::Job;
use closedbook_canary::report::Evidence;
use closedbook_sidecar::control::report::Phase;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::job::PHASES;
use crate::exit::Failure;
use crate::instance::Target;
use crate::scratch::{Scratch, cannot};

/// What a trial is made of.
pub(super) struct Trial<'a> {
    /// Flags of `closedbook run` besides: where its uplink is.
    pub(super) uplink: Vec<String>,
    /// The policy, canonical JSON.
    pub(super) policy: &'a str,
    /// The canary's job.
    pub(super) job: &'a Job,
    /// Where policy, control socket and log lie.
    pub(super) scratch: &'a Scratch,
}

/// The decision log of the trial.
pub(super) fn log(scratch: &Scratch) -> PathBuf {
    scratch.file("egress.jsonl")
}

impl Trial<'_> {
    /// Runs it to its end.
    pub(super) fn run(&self) -> Result<Evidence, Failure> {
        let policy = self.scratch.file("policy.json");
        // By name: its control socket is then where the commands of other runs can't see it, which a path in the folder for
        // temporary files is not.
        let name = self.job.run.to_ascii_lowercase();
        let control = Target::named(name.parse().map_err(|error| Failure::bug(format!("{name}: {error}")))?);
        fs::write(&policy, self.policy).map_err(|error| cannot("write", &policy, &error))?;
        let mut command = Command::new("/proc/self/exe");
        command.args(["run", "--quiet", "--phase", PHASES[0]]).args(&self.uplink);
        command.arg("--policy").arg(&policy).args(["--name", &name]);
        command.arg("--log").arg(log(self.scratch));
        command.args(["--", "/proc/self/exe", "canary", "run", "--job", "-", "--steps"]);
        let mut steps = Conversation::start(command, self.job)?;
        let mut policies = BTreeMap::new();
        loop {
            match steps.hear()? {
                Said::Phase(name) => match switch(&control, &name) {
                    Ok(policy) => {
                        policies.insert(name, policy);
                        steps.answer(&json!("done"))?;
                    }
                    Err(failure) => steps.answer(&json!(failure.to_string()))?,
                },
                Said::Kill => {
                    let killed = kill_sidecar(&control);
                    steps.answer(
                        &killed.map_or_else(|failure| json!(failure.to_string()), |()| json!("done")),
                    )?;
                }
                Said::Evidence(mut evidence) => {
                    steps.end();
                    for stage in &mut evidence.stages {
                        stage.policy = policies.get(&stage.phase).cloned();
                    }
                    return Ok(*evidence);
                }
            }
        }
    }
}

/// The same probes where nothing is in their way: no switch, no sidecar.
pub(super) fn baseline(mut command: Command, job: &Job) -> Result<Evidence, Failure> {
    command.args(["canary", "run", "--job", "-", "--steps", "--baseline", "--quiet"]);
    let mut steps = Conversation::start(command, job)?;
    match steps.hear()? {
        Said::Evidence(evidence) => {
            steps.end();
            Ok(*evidence)
        }
        Said::Phase(_) | Said::Kill => Err(Failure::bug("the baseline asks for a switch")),
    }
}

/// Sees to it that a phase is in force; the digest of the policy that it is of, as the sidecar has it.
fn switch(control: &Target, name: &str) -> Result<String, Failure> {
    let mut client = control.connect()?;
    let mut now: Phase = client.call("phase.get", json!({}))?;
    if now.name != name {
        let wanted = json!({ "name": name, "widen": false, "cut": "refused" });
        client.call_for_json("phase.set", wanted)?;
        now = client.call("phase.get", json!({}))?;
    }
    match now.name == name {
        true => Ok(now.policy),
        false => Err(Failure::refused(format!("the trial is in phase {}", now.name))),
    }
}

/// The process that serves is the one that answers.
fn kill_sidecar(control: &Target) -> Result<(), Failure> {
    let status: Value = control.connect()?.call_for_json("status", json!({}))?;
    let pid = status.get("pid").and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.ok_or_else(|| Failure::bug("the sidecar does not say which process it is"))?;
    kill(Pid::from_raw(pid), Signal::SIGKILL)
        .map_err(|error| Failure::refused(format!("the sidecar can't be killed: {error}")))
}

/// What the canary says, line by line.
struct Conversation {
    child: Child,
    input: ChildStdin,
    lines: BufReader<std::process::ChildStdout>,
}

enum Said {
    Phase(String),
    Kill,
    Evidence(Box<Evidence>),
}

impl Conversation {
    fn start(mut command: Command, job: &Job) -> Result<Self, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Failure::bug(format!("can't start this program again: {error}")))?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::bug("a process without the pipes that it was given"));
        };
        let mut text = serde_json::to_vec(job).map_err(|error| Failure::bug(error.to_string()))?;
        text.push(b'\n');
        // One that has ended already says why on standard error; its silence is noticed below.
        let _ = input.write_all(&text);
        Ok(Self { child, input, lines: BufReader::new(output) })
    }

    fn hear(&mut self) -> Result<Said, Failure> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line);
        let mut value: Value = match read {
            Ok(1..) => serde_json::from_str(&line)
                .map_err(|error| Failure::bug(format!("the canary can't be understood: {error}")))?,
            _ => return Err(self.gone()),
        };
        if let Some(evidence) = value.get_mut("evidence").map(Value::take) {
            let evidence = serde_json::from_value(evidence).map_err(|error| {
                Failure::bug(format!("the canary's evidence can't be understood: {error}"))
            })?;
            return Ok(Said::Evidence(Box::new(evidence)));
        }
        match value.get("phase").and_then(Value::as_str) {
            Some(name) => Ok(Said::Phase(name.to_owned())),
            None if value.get("kill").is_some() => Ok(Said::Kill),
            None => Err(Failure::bug(format!("the canary says {}", line.trim()))),
        }
    }

    fn answer(&mut self, answer: &Value) -> Result<(), Failure> {
        writeln!(self.input, "{answer}").map_err(|_| self.gone())
    }

    /// It said why on standard error, and its code says what kind of end it was.
    fn gone(&mut self) -> Failure {
        let code = self.child.wait().ok().and_then(|status| status.code());
        let what = "the canary ended without its evidence";
        match code {
            Some(4) => Failure::host(what),
            Some(3) => Failure::inconclusive(what),
            code => Failure::inconclusive(format!("{what} (exit {code:?})")),
        }
    }

    fn end(mut self) {
        drop(self.input);
        let _ = self.child.wait();
    }
}
