//! The JSON files, octet for octet as the original writes them.

use std::fmt::Write as _;

use crate::report::{Evidence, Overall, Report};
use crate::trial::Want;
use crate::verdict::Verdict;

/// The probe of the hosts that are not permitted, and that of those that are.
const PROBES: [&str; 2] = ["allow-nothing-else", "allow-https"];

/// What the original's canary would have found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shapes {
    /// Each phase that was to be tried, in the original's order.
    pub probe: Vec<Probe>,
    /// Why it is no pass; none, if it is one.
    pub reasons: Vec<String>,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// `setup` or `agent`.
    pub phase: String,
    /// URLs that must not be reached, with the exit code of curl.
    pub blocked: Codes,
    /// Hosts that must be.
    pub allowed: Codes,
}

/// Exit codes of curl, in the order in which they were found.
pub type Codes = Vec<(String, u8)>;

impl Shapes {
    /// From a report. Phases that the original does not know are left out; what keeps the report from passing is a reason
    /// whatever it is, since the original can't say it otherwise.
    pub fn of(report: &Report) -> Self {
        let Report { evidence, judgement, .. } = report;
        let (mut probe, mut reasons) = (Vec::new(), Vec::new());
        for phase in ["setup", "agent"] {
            if !evidence.subject.phases.iter().any(|tried| tried == phase) {
                continue;
            }
            let found = Found::in_phase(report, phase);
            reasons.extend(found.reasons(phase));
            probe.push(Probe { phase: phase.to_owned(), blocked: found.blocked, allowed: found.allowed });
        }
        if probe.is_empty() {
            reasons.push("setup probe result missing".to_owned());
        }
        reasons.extend(judgement.reasons.iter().map(|reason| format!("closedbook canary: {reason}")));
        if reasons.is_empty() && judgement.overall != Overall::Pass {
            reasons.push(format!("closedbook canary: {}", judgement.overall));
        }
        Self { probe, reasons }
    }

    /// Whether it is a pass.
    pub fn passes(&self) -> bool {
        self.reasons.is_empty()
    }

    /// `verifier/canary.json`, as Python's `json.dumps(..., indent=2)` writes it.
    pub fn verdict_json(&self) -> String {
        let probes = self.probe.iter().map(|probe| {
            let body = format!(
                "{{\n      \"blocked\": {},\n      \"allowed\": {}\n    }}",
                codes(&probe.blocked),
                codes(&probe.allowed)
            );
            format!("    {}: {body}", quoted(&probe.phase))
        });
        let reasons = self.reasons.iter().map(|reason| format!("    {}", quoted(reason)));
        format!(
            "{{\n  \"probe\": {},\n  \"reasons\": {}\n}}",
            block(probes.collect(), ('{', '}'), 2),
            block(reasons.collect(), ('[', ']'), 2)
        )
    }

    /// `verifier/reward.json`.
    pub fn reward_json(&self) -> String {
        format!("{{\"reward\": {}}}", if self.passes() { "1.0" } else { "0.0" })
    }
}

impl Probe {
    /// `artifacts/.../canary.json` of setup, `canary-agent.json` of the agent's phase: as the original's shell script writes it.
    pub fn json(&self) -> String {
        let lines = |codes: &Codes| {
            let lines: Vec<String> =
                codes.iter().map(|(name, code)| format!("{}: {code}", quoted(name))).collect();
            lines.join(",\n")
        };
        format!(
            "{{\"blocked\": {{\n{}}}, \"allowed\": {{\n{}}}}}\n",
            lines(&self.blocked),
            lines(&self.allowed)
        )
    }

    /// Its file's name.
    pub fn file(&self) -> &'static str {
        if self.phase == "agent" { "canary-agent.json" } else { "canary.json" }
    }
}

/// What a phase's probes found, at both levels together.
#[derive(Default)]
struct Found {
    blocked: Codes,
    allowed: Codes,
    unknown: Vec<String>,
}

impl Found {
    fn in_phase(report: &Report, phase: &str) -> Self {
        let mut worst: Vec<(String, bool, Verdict, Option<u8>)> = Vec::new();
        for (name, is_blocked, verdict, code) in judged(report, phase) {
            match worst.iter_mut().find(|(known, kind, ..)| *known == name && *kind == is_blocked) {
                // The worse of two levels.
                Some(known) if known.2 < verdict => (known.2, known.3) = (verdict, code),
                Some(_) => {}
                None => worst.push((name, is_blocked, verdict, code)),
            }
        }
        let mut found = Self::default();
        for (name, is_blocked, _, code) in worst {
            match code {
                None => found.unknown.push(name),
                Some(code) if is_blocked => found.blocked.push((name, code)),
                Some(code) => found.allowed.push((name, code)),
            }
        }
        found.unknown.extend(untold(&report.evidence, phase, &found));
        found
    }

    /// The original's own sentences, and one of its kind for what it does not know.
    fn reasons(&self, phase: &str) -> Vec<String> {
        let mut reasons = Vec::new();
        for (url, code) in &self.blocked {
            if *code == 0 {
                reasons.push(format!("{phase}: blocked URL reachable: {url}"));
            }
        }
        for (host, code) in &self.allowed {
            if *code != 0 {
                reasons.push(format!("{phase}: allowed host unreachable: {host} (curl exit {code})"));
            }
        }
        reasons.extend(self.unknown.iter().map(|name| format!("{phase}: inconclusive: {name}")));
        if self.blocked.is_empty() {
            reasons.push(format!("{phase}: no blocked URLs probed"));
        }
        reasons
    }
}

/// Each host's verdict: its name there, whether it must be blocked, and curl's code.
fn judged<'a>(
    report: &'a Report,
    phase: &'a str,
) -> impl Iterator<Item = (String, bool, Verdict, Option<u8>)> + 'a {
    let outcomes = report
        .evidence
        .stages
        .iter()
        .flat_map(|stage| stage.outcomes.iter().map(move |outcome| (stage, outcome)));
    // The judgement's are the evidence's, in the same order.
    let both = outcomes.zip(&report.judgement.probes);
    both.filter(move |((stage, outcome), _)| stage.phase == phase && PROBES.contains(&outcome.id.as_str()))
        .flat_map(|((_, outcome), judged)| outcome.tries.iter().zip(&judged.tries))
        .filter_map(|(attempt, judged)| {
            let code = super::curl::code(attempt, judged.verdict);
            match &attempt.want {
                Want::Stopped => Some((format!("https://{}", attempt.to), true, judged.verdict, code)),
                Want::Reached { name } => Some((name.clone(), false, judged.verdict, code)),
                _ => None,
            }
        })
}

/// Hosts that were to be aimed at, and of which nothing is known.
fn untold(evidence: &Evidence, phase: &str, found: &Found) -> Vec<String> {
    let Some(aim) = evidence.aims.get(phase) else { return Vec::new() };
    let told = |name: &String| {
        let known = |(known, _): &(String, u8)| known == name;
        found.blocked.iter().any(known) || found.allowed.iter().any(known) || found.unknown.contains(name)
    };
    let blocked = aim.refused.iter().chain(&aim.setup_only).map(|host| format!("https://{host}"));
    let allowed = aim.permitted.iter().filter(|host| host.https).map(|host| host.name.clone());
    blocked.chain(allowed).filter(|name| !told(name)).collect()
}

fn codes(codes: &Codes) -> String {
    let lines = codes.iter().map(|(name, code)| format!("        {}: {code}", quoted(name)));
    block(lines.collect(), ('{', '}'), 6)
}

/// Lines between brackets that stand `indent` deep; nothing between them if there is none.
fn block(lines: Vec<String>, (open, close): (char, char), indent: usize) -> String {
    if lines.is_empty() {
        return format!("{open}{close}");
    }
    format!("{open}\n{}\n{:indent$}{close}", lines.join(",\n"), "")
}

/// A JSON string as Python writes it: ASCII alone, anything else as UTF-16 escapes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            ' '..='~' => quoted.push(character),
            _ => {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    // Writing to a String can't fail.
                    let _ = write!(quoted, "\\u{unit:04x}");
                }
            }
        }
    }
    quoted.push('"');
    quoted
}
