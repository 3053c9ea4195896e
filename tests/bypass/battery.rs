//! A family of attacks, tried at every level in one run.

use std::fmt;

use serde_json::{Value, json};

use crate::program::{Program, Results, Sealed};
use crate::support::{Mode, Outcome, Run, modes};

/// One technique.
pub(crate) struct Attack {
    name: &'static str,
    code: &'static str,
    refused: &'static [&'static str],
    reason: Option<&'static str>,
    control: Control,
    rewritten: bool,
    patient: bool,
    sealed_only: bool,
}

enum Control {
    /// The same program, in the lab's namespace.
    Same,
    /// Another program, which shows what the attack would do if it were let through.
    Code(&'static str),
    /// There is none, and why.
    Without(&'static str),
}

/// A technique, and the outcomes that count as refused.
pub(crate) const fn attack(
    name: &'static str,
    code: &'static str,
    refused: &'static [&'static str],
) -> Attack {
    let (reason, control) = (None, Control::Same);
    Attack { name, code, refused, reason, control, rewritten: false, patient: false, sealed_only: false }
}

impl Attack {
    /// The log says that it was refused for this reason.
    pub(crate) const fn logged(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    /// The positive control is another program.
    pub(crate) const fn control(self, code: &'static str) -> Self {
        Self { control: Control::Code(code), ..self }
    }

    /// There is no positive control, and why.
    pub(crate) const fn without_control(self, why: &'static str) -> Self {
        Self { control: Control::Without(why), ..self }
    }

    /// G3: it goes through, but to the permitted name's own address.
    pub(crate) const fn rewritten(self) -> Self {
        Self { rewritten: true, ..self }
    }

    /// It is given the time that a client has to name its host (G4), and the outcome of a refusal is awaited so long.
    pub(crate) const fn patient(self) -> Self {
        Self { patient: true, ..self }
    }

    /// Namespaces do not hold it, the filter on system calls does: not to be tried without that.
    pub(crate) const fn sealed_only(self) -> Self {
        Self { sealed_only: true, ..self }
    }
}

/// The levels, in order, with the letter that marks their nonces.
const LEVELS: [(&str, char); 4] = [("control", 'c'), ("sealed", 'd'), ("capable", 'e'), ("flushed", 'f')];

/// Where the permitted host of the batteries lives.
const PERMITTED: &str = "api.anthropic.com";
const PERMITTED_AT: [&str; 2] = ["198.51.100.1", "2001:db8::1:1"];

/// G11: nothing hangs. Far above what is measured, since machines that run tests are busy.
const HANG_MS: f64 = 2_000.0;
/// The deadline for evidence, and the same allowance.
const PATIENT_MS: f64 = 7_000.0;

/// Tries all of them in every mode; fails with a list of whatever was not as it must be.
pub(crate) fn attempt(family: &str, attacks: &[Attack]) {
    attempt_in(family, |run| run.allow(PERMITTED), attacks);
}

/// The same in runs that are set up so.
pub(crate) fn attempt_in(family: &str, set_up: impl Fn(Run) -> Run, attacks: &[Attack]) {
    let mut faults = Vec::new();
    for &mode in modes() {
        let battery = Battery { attacks, seed: seed() };
        let found = battery.run(mode, set_up(Run::in_lab(mode)));
        faults.extend(found.into_iter().map(|fault| format!("{mode:?}: {fault}")));
    }
    assert!(faults.is_empty(), "{family}:\n{}", faults.join("\n"));
}

struct Battery<'a> {
    attacks: &'a [Attack],
    seed: String,
}

impl Battery<'_> {
    fn run(&self, mode: Mode, run: Run) -> Vec<String> {
        let Sealed { mut program, task, proxy } = Sealed::start(&run);
        let mut results = Vec::new();
        results.push(Program::inside(mode, proxy).order(&self.job(0)));
        results.push(program.order(&self.job(1)));
        let mut capable = Program::inside(mode, task);
        results.push(capable.order(&self.job(2)));
        let flushed = capable.order(&json!({"command": ["nft", "flush ruleset; list ruleset"]}));
        assert!(
            flushed["output"].as_str().unwrap().contains("returncode=0, stdout='', stderr=''"),
            "{flushed:?}"
        );
        results.push(capable.order(&self.job(3)));
        drop(capable);
        let outcome = run.outcome(program.end());
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        self.attacks
            .iter()
            .enumerate()
            .flat_map(|(index, attack)| self.judge(index, attack, &results, &outcome))
            .collect()
    }

    fn judge(&self, index: usize, attack: &Attack, results: &[Results], outcome: &Outcome) -> Vec<String> {
        let name = attack.name;
        let mut faults = Vec::new();
        let mut fault = |what: String| faults.push(format!("{name}: {what}"));
        let got = |level: usize| Got::of(results[level].get(name));
        let controlled = match attack.control {
            Control::Same | Control::Code(_) => true,
            Control::Without(why) => {
                eprintln!("{name} has no positive control: {why}");
                false
            }
        };
        if controlled && !outcome.arrived(&self.nonce(index, 0)) {
            fault(format!("the positive control did not arrive: {}", got(0)));
        }
        let sealed = got(1);
        if !attack.refused.contains(&sealed.outcome.as_str()) {
            fault(format!("answered by {sealed}, not by {:?}", attack.refused));
        }
        if sealed.ms > if attack.patient { PATIENT_MS } else { HANG_MS } {
            fault(format!("hangs: {sealed}"));
        }
        if attack.reason.is_some_and(|reason| !self.is_logged(index, reason, outcome)) {
            fault(format!("{} is not in the log: {sealed}", attack.reason.unwrap_or_default()));
        }
        for (level, (named, _)) in LEVELS.iter().enumerate().skip(1) {
            let nonce = self.nonce(index, level);
            let astray = |arrival: &&Value| {
                !attack.rewritten || !PERMITTED_AT.iter().any(|address| arrival["local"] == *address)
            };
            for stray in outcome.arrivals(&nonce).filter(astray) {
                fault(format!("LEAK at level {named}: {} arrived: {stray}", got(level)));
            }
        }
        if attack.rewritten && !outcome.arrived(&self.nonce(index, 1)) {
            fault(format!("did not reach the permitted host: {sealed}"));
        }
        faults
    }

    /// By the address that was aimed at, or the nonce where the log has it.
    fn is_logged(&self, index: usize, reason: &str, outcome: &Outcome) -> bool {
        let (v4, v6) = aims(index);
        let nonce = self.nonce(index, 1).to_lowercase();
        outcome.log.iter().filter(|record| record["verdict"] == "deny" && record["reason"] == reason).any(
            |record| {
                let original = record["original"].as_str().unwrap_or_default();
                let here =
                    original.starts_with(&format!("{v4}:")) || original.starts_with(&format!("[{v6}]"));
                // A message that can't be read has no name to be known by.
                here || reason == "dns-malformed" || record.to_string().to_lowercase().contains(&nonce)
            },
        )
    }

    fn job(&self, level: usize) -> Value {
        let attacks: Vec<Value> = self
            .attacks
            .iter()
            .enumerate()
            .filter_map(|(index, attack)| {
                let code = match (level, &attack.control) {
                    (0, Control::Code(code)) => code,
                    (0, Control::Without(_)) => return None,
                    (2.., _) if attack.sealed_only => return None,
                    _ => attack.code,
                };
                let (v4, v6) = aims(index);
                let nonce = self.nonce(index, level);
                Some(json!({"name": attack.name, "code": code, "nonce": nonce, "v4": v4, "v6": v6}))
            })
            .collect();
        // Sealed, one after the other and with patience, so that a hang is seen; then arrivals alone count.
        let wait = [1.0, 10.0, 0.25, 0.25][level];
        let together = level != 1 || self.attacks.iter().any(|attack| attack.patient);
        json!({"attacks": attacks, "together": together, "wait": wait})
    }

    fn nonce(&self, index: usize, level: usize) -> String {
        format!("N0NCE-{}{index:03}{}", self.seed, LEVELS[level].1)
    }
}

/// The outcome of one attack at one level.
struct Got {
    outcome: String,
    ms: f64,
}

impl Got {
    fn of(result: Option<&Value>) -> Self {
        let text = |result: &Value| Some(result["outcome"].as_str()?.to_owned());
        let outcome = result.and_then(text).unwrap_or_else(|| "no outcome".into());
        Self { outcome, ms: result.and_then(|result| result["ms"].as_f64()).unwrap_or_default() }
    }
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} after {} ms", self.outcome, self.ms)
    }
}

/// Where an attack aims, so that its records are told from others: no host of the lab is there.
fn aims(index: usize) -> (String, String) {
    (format!("203.0.113.{}", index + 1), format!("2001:db8:0:bad::{:x}", index + 1))
}

fn seed() -> String {
    let random = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0);
    format!("{:012x}", random & 0xffff_ffff_ffff)
}
