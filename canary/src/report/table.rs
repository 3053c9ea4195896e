//! For the terminal: groups by phase and level, what failed first, and what must be known besides.

use std::fmt::Write as _;

use super::evidence::Evidence;
use super::judgement::{Judgement, Overall};
use super::tally::{self, Tally};
use crate::probe::{Group, Level};
use crate::verdict::Verdict;

/// How it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns.
    pub width: usize,
    /// Whether colours make sense.
    pub colour: bool,
}

/// Findings that are told; the page has all.
const MOST: usize = 24;

impl Look {
    /// As standard output has it.
    pub fn of_stdout() -> Self {
        use std::io::IsTerminal as _;
        let terminal = std::io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let own = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Self { width: told.or_else(own).unwrap_or(100).clamp(40, 200), colour: terminal && !plain }
    }
}

/// The whole of it.
pub fn render(evidence: &Evidence, judgement: &Judgement, look: Look) -> String {
    let mut page = Page { text: String::new(), look };
    page.head(evidence, judgement);
    page.counts(judgement);
    page.findings(judgement);
    page.lines("Must be known:", &judgement.warnings, Ink::Yellow);
    let facts = evidence.facts.iter().map(|fact| match &fact.phase {
        Some(phase) => format!("{} ({phase}): {}: {}", fact.id, fact.about, fact.text),
        None => format!("{}: {}: {}", fact.id, fact.about, fact.text),
    });
    page.lines("What no network filter stops:", &facts.collect::<Vec<_>>(), Ink::Plain);
    page.end(judgement);
    page.text
}

struct Page {
    text: String,
    look: Look,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ink {
    Plain,
    Bold,
    Faint,
    Green,
    Yellow,
    Red,
}

impl Page {
    fn head(&mut self, evidence: &Evidence, judgement: &Judgement) {
        let word = judgement.overall.word().to_uppercase();
        let word = self.ink(&word, of_overall(judgement.overall));
        let _ = writeln!(self.text, "{word}  {}", subject(evidence));
        let mut about = vec![format!("run {}", harmless(&evidence.run)), harmless(&evidence.made)];
        if let Some(stage) = evidence.stages.first() {
            about.push(format!("kernel {}", harmless(&stage.surroundings.kernel)));
        }
        if let Some(policy) = &evidence.subject.policy {
            about.push(format!("policy {}", harmless(policy)));
        }
        self.wrapped(&about.join(", "), 0, 0, Ink::Faint);
        self.text.push('\n');
    }

    fn counts(&mut self, judgement: &Judgement) {
        let columns = columns(judgement);
        let rows: Vec<(Group, Vec<Tally>)> = Group::ALL
            .into_iter()
            .map(|group| (group, columns.iter().map(|column| tally_of(judgement, group, column)).collect()))
            .filter(|(_, tallies): &(Group, Vec<Tally>)| tallies.iter().any(|tally| tally.all() > 0))
            .collect();
        let widths: Vec<usize> = columns
            .iter()
            .enumerate()
            .map(|(place, (phase, level))| {
                let cells =
                    rows.iter().filter_map(|(_, tallies)| tallies.get(place)).map(|tally| cell(tally).len());
                cells.chain([phase.chars().count() + 1 + level.word().len()]).max().unwrap_or(0)
            })
            .collect();
        if 8 + widths.iter().map(|width| width + 2).sum::<usize>() <= self.look.width {
            self.wide(&columns, &rows, &widths);
        } else {
            self.narrow(&columns, &rows);
        }
        self.text.push('\n');
    }

    fn wide(&mut self, columns: &[(String, Level)], rows: &[(Group, Vec<Tally>)], widths: &[usize]) {
        let mut head = format!("{:8}", "");
        for ((phase, level), width) in columns.iter().zip(widths) {
            let _ = write!(head, "  {:width$}", format!("{}/{level}", harmless(phase)));
        }
        let head = self.ink(head.trim_end(), Ink::Bold);
        let _ = writeln!(self.text, "{head}");
        for (group, tallies) in rows {
            let mut line = format!("{:8}", group.word());
            for (tally, width) in tallies.iter().zip(widths) {
                let plain = cell(tally);
                let padding = width.saturating_sub(plain.len());
                let _ = write!(line, "  {}{:padding$}", self.ink(&plain, of_tally(tally)), "");
            }
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }

    fn narrow(&mut self, columns: &[(String, Level)], rows: &[(Group, Vec<Tally>)]) {
        for (place, (phase, level)) in columns.iter().enumerate() {
            let head = self.ink(&format!("{}/{level}", harmless(phase)), Ink::Bold);
            let _ = writeln!(self.text, "{head}");
            for (group, tallies) in rows {
                let Some(tally) = tallies.get(place).filter(|tally| tally.all() > 0) else { continue };
                let cell = self.ink(&cell(tally), of_tally(tally));
                let _ = writeln!(self.text, "  {:8}{cell}", group.word());
            }
        }
    }

    fn findings(&mut self, judgement: &Judgement) {
        let findings = tally::findings(&judgement.probes);
        for finding in findings.iter().take(MOST) {
            let probe = finding.probe;
            let word = self.ink(&probe.verdict.word().to_uppercase(), of_verdict(probe.verdict));
            let _ = writeln!(
                self.text,
                "{word}  {}  {}",
                harmless(&probe.id),
                harmless(&finding.places.join(", "))
            );
            self.wrapped(&harmless(&probe.because), 4, 4, Ink::Plain);
            if let Some(known) = crate::find(&probe.id) {
                self.wrapped(&format!("what it is: {}", known.leak), 4, 8, Ink::Faint);
                self.wrapped(&format!("expected: {}", known.expected), 4, 8, Ink::Faint);
            }
            self.wrapped(&format!("remedy: {}", tally::remedy(probe.verdict)), 4, 8, Ink::Faint);
        }
        if findings.len() > MOST {
            let _ = writeln!(self.text, "... and {} more; --html FILE shows all", findings.len() - MOST);
        }
        if !findings.is_empty() {
            self.text.push('\n');
        }
        let told: Vec<String> = judgement.probes.iter().map(ToString::to_string).collect();
        let others: Vec<String> =
            judgement.reasons.iter().filter(|reason| !told.contains(reason)).cloned().collect();
        self.lines("It says too little:", &others, Ink::Yellow);
    }

    fn lines(&mut self, head: &str, lines: &[String], ink: Ink) {
        if lines.is_empty() {
            return;
        }
        let head = self.ink(head, Ink::Bold);
        let _ = writeln!(self.text, "{head}");
        for line in lines.iter().take(MOST) {
            self.wrapped(&format!("- {}", harmless(line)), 2, 4, ink);
        }
        if lines.len() > MOST {
            let _ = writeln!(self.text, "  ... and {} more", lines.len() - MOST);
        }
        self.text.push('\n');
    }

    fn end(&mut self, judgement: &Judgement) {
        let tally = Tally::of(judgement.probes.iter());
        let text = match judgement.overall {
            Overall::Pass => "every permitted host answered, and nothing else got anywhere",
            Overall::Fail => "there is a way out, one can't be excluded, or a permitted host was refused",
            Overall::Inconclusive => "it can't be told, which is not a pass",
        };
        let line = format!(
            "canary: {}: {text} ({} probes tried, {} not applicable)",
            judgement.overall,
            tally.all() - tally.count(Verdict::NotApplicable),
            tally.count(Verdict::NotApplicable)
        );
        self.wrapped(&line, 0, 0, of_overall(judgement.overall));
    }

    /// Text in lines no longer than the terminal is wide; words longer than a line are left whole.
    fn wrapped(&mut self, text: &str, first: usize, rest: usize, ink: Ink) {
        let mut line = String::new();
        let mut indent = first;
        for word in text.split(' ') {
            let length = indent + line.chars().count() + 1 + word.chars().count();
            if !line.is_empty() && length > self.look.width {
                let shown = self.ink(&line, ink);
                let _ = writeln!(self.text, "{:indent$}{shown}", "");
                (line, indent) = (String::new(), rest);
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        let shown = self.ink(&line, ink);
        let _ = writeln!(self.text, "{:indent$}{shown}", "");
    }

    fn ink(&self, text: &str, ink: Ink) -> String {
        let code = match ink {
            Ink::Plain => return text.to_owned(),
            _ if !self.look.colour => return text.to_owned(),
            Ink::Bold => "1",
            Ink::Faint => "2",
            Ink::Green => "32",
            Ink::Yellow => "33",
            Ink::Red => "1;31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

fn columns(judgement: &Judgement) -> Vec<(String, Level)> {
    let mut columns: Vec<(String, Level)> = Vec::new();
    for probe in &judgement.probes {
        let column = (probe.phase.clone(), probe.level);
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

fn tally_of(judgement: &Judgement, group: Group, (phase, level): &(String, Level)) -> Tally {
    Tally::of(judgement.probes.iter().filter(|probe| {
        probe.phase == *phase && probe.level == *level && tally::group(&probe.id) == Some(group)
    }))
}

/// `24 ok, 3 n/a`: as short as it can be, for a table of eighty columns.
fn cell(tally: &Tally) -> String {
    let mut parts = Vec::new();
    for (number, word) in [
        (tally.good(), "ok"),
        (tally.count(Verdict::BlockedSlow), "slow"),
        (tally.count(Verdict::NotApplicable), "n/a"),
        (tally.count(Verdict::Inconclusive), "unknown"),
        (tally.count(Verdict::Refused), "REFUSED"),
        (tally.count(Verdict::Suspect), "SUSPECT"),
        (tally.count(Verdict::Leak), "LEAK"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    if parts.is_empty() { "-".to_owned() } else { parts.join(" ") }
}

fn of_tally(tally: &Tally) -> Ink {
    tally.worst().map_or(Ink::Faint, of_verdict)
}

fn of_verdict(verdict: Verdict) -> Ink {
    match verdict {
        Verdict::NotApplicable => Ink::Faint,
        Verdict::Allowed | Verdict::Blocked | Verdict::Rewritten => Ink::Green,
        Verdict::BlockedSlow | Verdict::Inconclusive => Ink::Yellow,
        Verdict::Refused | Verdict::Suspect | Verdict::Leak => Ink::Red,
    }
}

fn of_overall(overall: Overall) -> Ink {
    match overall {
        Overall::Pass => Ink::Green,
        Overall::Fail => Ink::Red,
        Overall::Inconclusive => Ink::Yellow,
    }
}

/// `claude-code via anthropic (api), sealed, phases setup, agent`
pub(super) fn subject(evidence: &Evidence) -> String {
    let subject = &evidence.subject;
    let mut about = String::new();
    if let Some(agent) = &subject.agent {
        about.push_str(agent);
        if let Some(provider) = &subject.provider {
            let _ = write!(about, " via {provider}");
        }
        if let Some(auth) = &subject.auth {
            let _ = write!(about, " ({auth})");
        }
        about.push_str(", ");
    }
    if let Some(topology) = &subject.topology {
        let _ = write!(about, "{topology}, ");
    }
    let _ = match subject.phases.as_slice() {
        [one] => write!(about, "phase {one}"),
        phases => write!(about, "phases {}", phases.join(", ")),
    };
    harmless(&about)
}

/// A text that a terminal shows and does not obey: what a task or a server wrote may be in it.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_direction(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Characters that turn the direction of writing, so that what is read is not what is there.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
