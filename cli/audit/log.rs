//! `closedbook audit log`: what the decision log says about the policy.

use std::fmt::{self, Write};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use closedbook_agents::Table;
use closedbook_audit::Malformed;
use closedbook_audit::egress::{
    self, Allowed, Finding, Host, LONGEST_LINE, Level, Log, Outcome, PhaseReport, Report,
};

use crate::exit::Failure;
use crate::flags::agent::AgentFlags;
use crate::output::{harmless, print, print_json};

/// How much is read at once.
const CHUNK: usize = 1 << 20;

/// So many hosts of each kind are shown; `--json` has all.
const SHOWN: usize = 50;

#[derive(Args)]
pub(super) struct AuditLog {
    /// A decision log, and the files that were put aside before it; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What should have been allowed: a policy, TOML or JSON
    #[arg(long, value_name = "FILE", group = "against")]
    policy: Option<PathBuf>,
    /// What should have been allowed: the row of this agent in the agent table
    #[arg(long = "agent", id = "agent_name", value_name = "NAME", group = "against")]
    agent: Option<String>,
    #[command(flatten)]
    agent_flags: AgentFlags,
    /// Print a diff over the policy, or over the agent's row: without what nothing used, and with names instead of
    /// wildcards
    #[arg(long, requires = "against", conflicts_with = "json")]
    propose: bool,
    /// After the diff, name what was refused, as comments; it is never added
    #[arg(long, requires = "propose")]
    propose_refused: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl AuditLog {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let allowed = self.allowed()?;
        let mut log = Log::default();
        for path in oldest_first(&self.files) {
            let name =
                if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
            if let Err(error) = read(&mut log, &name, path) {
                log.unread(Malformed::whole(name, format!("can't be read: {error}")));
            }
        }
        let report = log.end(allowed.as_ref());
        if self.json {
            let json = serde_json::to_value(&report);
            print_json(&json.map_err(|error| Failure::bug(format!("no report: {error}")))?)?;
        } else if self.propose {
            print(&self.proposal(&report)?)?;
        } else {
            print(&text(&report))?;
        }
        for malformed in &report.malformed {
            eprintln!("closedbook: {}", harmless(&malformed.to_string()));
        }
        if report.more_malformed > 0 {
            eprintln!("closedbook: and {} more lines that are no records", report.more_malformed);
        }
        if report.outcome == Outcome::Empty {
            eprintln!("closedbook: there is no record in it, which proves nothing");
        }
        Ok(ExitCode::from(match report.outcome {
            Outcome::Clean => 0,
            Outcome::Found => 1,
            Outcome::Malformed => 2,
            Outcome::Empty => 3,
        }))
    }

    fn allowed(&self) -> Result<Option<Allowed>, Failure> {
        if let Some(path) = &self.policy {
            return Ok(Some(Allowed::of_policy(&path.display().to_string(), &crate::policy::load(path)?)));
        }
        let Some(agent) = &self.agent else { return Ok(None) };
        let table = self.agent_flags.table.load()?;
        let choice = self.agent_flags.choose(&table, agent);
        let allowed = choice.and_then(|choice| Allowed::of_choice(&choice, self.agent_flags.judge()));
        // Exit 1 would say that the log was read.
        allowed.map(Some).map_err(|refused| Failure::usage(refused.to_string()))
    }

    fn proposal(&self, report: &Report) -> Result<String, Failure> {
        let unreadable = |file: &str, why: String| Failure::usage(format!("can't read {file}: {why}"));
        let path = self.policy.as_ref().or(self.agent_flags.table.table.as_ref());
        let file = path.map_or_else(|| "agents/table.toml".to_owned(), |path| path.display().to_string());
        let source = match path {
            None => Table::EMBEDDED.to_owned(),
            Some(path) if path.as_os_str() == "-" => {
                return Err(unreadable(&file, "a diff needs a file, not standard input".into()));
            }
            Some(path) => {
                std::fs::read_to_string(path).map_err(|error| unreadable(&file, error.to_string()))?
            }
        };
        let lists = match &self.agent {
            Some(agent) => egress::lists_of_row(&source, agent),
            None => egress::lists(&source),
        };
        let lists = lists.map_err(|error| unreadable(&file, error.to_string()))?;
        let mut out = String::new();
        for finding in report.findings.iter().filter(|finding| finding.level == Level::Incomplete) {
            // What stands before a diff is nothing to those who read it.
            let _ = writeln!(out, "# the log is not whole: {}", harmless(&finding.what));
        }
        out += &egress::proposal(file.trim_start_matches('/'), &source, &lists, report);
        if self.propose_refused {
            for phase in &report.phases {
                for host in &phase.refused {
                    let (place, reasons) = (with_ports(host), host.reasons.join(" "));
                    // Writing to a String can't fail.
                    let _ = writeln!(
                        out,
                        "# phase.{}: {} would be needed if these {} attempts should pass ({reasons})",
                        harmless(&phase.name),
                        harmless(&place),
                        host.times
                    );
                }
            }
        }
        Ok(out)
    }
}

/// Numbers that come again are another run's, so the files of a log are read in the order in which they were written:
/// `FILE.2`, `FILE.1`, `FILE`.
fn oldest_first(files: &[PathBuf]) -> Vec<&PathBuf> {
    let parts = |path: &Path| {
        let number = path.extension().and_then(|number| number.to_str()?.parse::<u64>().ok());
        number.map_or_else(|| (path.to_owned(), 0), |number| (path.with_extension(""), number))
    };
    let bases: Vec<PathBuf> = files.iter().map(|path| parts(path).0).collect();
    let mut sorted: Vec<&PathBuf> = files.iter().collect();
    sorted.sort_by_cached_key(|path| {
        let (base, number) = parts(path);
        (bases.iter().position(|known| *known == base), std::cmp::Reverse(number))
    });
    sorted
}

fn read(log: &mut Log, name: &str, path: &Path) -> io::Result<()> {
    let source: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(path)?),
    };
    let mut source = BufReader::with_capacity(CHUNK, source);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let most = LONGEST_LINE as u64 + 1;
        if source.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            log.line(name, number, &line);
        } else if line.len() > LONGEST_LINE {
            log.too_long(name, number);
            skip_line(&mut source)?;
        } else {
            log.line(name, number, &line);
        }
    }
    Ok(())
}

fn skip_line(source: &mut impl BufRead) -> io::Result<()> {
    loop {
        let chunk = source.fill_buf()?;
        match chunk.iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                source.consume(at + 1);
                return Ok(());
            }
            None if chunk.is_empty() => return Ok(()),
            None => {
                let size = chunk.len();
                source.consume(size);
            }
        }
    }
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_text(&mut text, report);
    text
}

fn write_text(out: &mut String, report: &Report) -> fmt::Result {
    if report.records == 0 {
        return writeln!(out, "log        no record");
    }
    let runs = if report.runs == 1 { "run" } else { "runs" };
    write!(out, "log        {} records of {} {runs}", report.records, report.runs)?;
    writeln!(out, ", {} to {}", report.first, report.last)?;
    if let Some(against) = &report.against {
        writeln!(out, "against    {}", harmless(against))?;
    }
    for policy in &report.policies {
        writeln!(out, "policy     {}  {} records", harmless(&policy.digest), policy.records)?;
    }
    for switch in &report.switches {
        writeln!(
            out,
            "epoch {:<4} {}  from {}  {} records",
            switch.epoch,
            harmless(&switch.phase),
            switch.first,
            switch.records
        )?;
    }
    for phase in &report.phases {
        write_phase(out, phase)?;
    }
    writeln!(out)?;
    for finding in &report.findings {
        write_finding(out, finding)?;
    }
    if report.findings.is_empty() {
        writeln!(out, "nothing to say")?;
    }
    Ok(())
}

fn write_phase(out: &mut String, phase: &PhaseReport) -> fmt::Result {
    writeln!(out, "\nphase {}  {} records", harmless(&phase.name), phase.records)?;
    for (title, hosts) in [
        ("refused", &phase.refused),
        ("refused as intended", &phase.intended),
        ("used", &phase.used),
        ("asked for, not connected to", &phase.asked),
        ("permitted, not reached", &phase.failed),
        ("packets refused", &phase.packets),
    ] {
        if !hosts.is_empty() {
            writeln!(out, "  {title}")?;
        }
        for host in hosts.iter().take(SHOWN) {
            write_host(out, host)?;
        }
        if hosts.len() > SHOWN {
            writeln!(out, "          and {} more", hosts.len() - SHOWN)?;
        }
    }
    for wildcard in phase.wildcards.iter().filter(|wildcard| !wildcard.carried.is_empty()) {
        let exact: Vec<&str> = wildcard.exact.iter().take(SHOWN).map(String::as_str).collect();
        writeln!(out, "  wildcard {}: would do: {}", harmless(&wildcard.entry), harmless(&exact.join(", ")))?;
    }
    for unused in &phase.unused {
        let how = if unused.asked { "asked for, not connected to" } else { "never used" };
        writeln!(out, "  entry {} ({}): {how}", harmless(&unused.entry), harmless(&unused.origin))?;
    }
    Ok(())
}

fn write_host(out: &mut String, host: &Host) -> fmt::Result {
    write!(out, "  {:>6}  {}  {}", host.times, harmless(&with_ports(host)), host.kinds.join(" "))?;
    if !host.reasons.is_empty() {
        write!(out, "  {}", host.reasons.join(" "))?;
    }
    if (host.bytes_up, host.bytes_down) != (0, 0) {
        write!(out, "  {} up, {} down", host.bytes_up, host.bytes_down)?;
    }
    write!(out, "  {}", host.first)?;
    if host.first != host.last {
        write!(out, " to {}", host.last)?;
    }
    // Where nothing went wrong it says nothing of interest.
    if !host.example.is_empty() && !host.reasons.is_empty() {
        write!(out, "  ({})", harmless(&host.example))?;
    }
    writeln!(out)
}

fn with_ports(host: &Host) -> String {
    let ports: Vec<String> = host.ports.iter().map(u16::to_string).collect();
    match ports.is_empty() {
        true => host.host.clone(),
        false => format!("{}:{}{}", host.host, ports.join(","), if host.more_ports { ",..." } else { "" }),
    }
}

fn write_finding(out: &mut String, finding: &Finding) -> fmt::Result {
    let level = match finding.level {
        Level::Incomplete => "incomplete",
        Level::Drift => "drift",
        Level::Note => "note",
    };
    let phase = finding.phase.as_deref().map_or(String::new(), |phase| format!("{}: ", harmless(phase)));
    writeln!(out, "{level:<10}  {phase}{}  [{}]", harmless(&finding.what), finding.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_put_aside_come_first() {
        let files: Vec<PathBuf> =
            ["b.jsonl", "a", "b.jsonl.1", "-", "b.jsonl.10", "a.2"].map(Into::into).into();
        let sorted: Vec<&str> = oldest_first(&files).into_iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(sorted, ["b.jsonl.10", "b.jsonl.1", "b.jsonl", "a.2", "a", "-"]);
    }

    #[test]
    fn lines_of_any_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let long = "x".repeat(3 * CHUNK);
        std::fs::write(&path, format!("{long}\n{}\nshort", "y".repeat(LONGEST_LINE))).unwrap();
        let mut log = Log::default();
        read(&mut log, "log", &path).unwrap();
        let told: Vec<String> = log.end(None).malformed.iter().map(Malformed::to_string).collect();
        assert_eq!(told.len(), 3);
        assert!(told[0].starts_with("log, line 1, column 1: a line of more than"), "{}", told[0]);
        assert!(told[1].starts_with("log, line 2, column 1: expected value"), "{}", told[1]);
        assert!(told[2].starts_with("log, line 3, "), "{}", told[2]);
    }
}
