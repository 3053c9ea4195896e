//! `closedbook audit container`: what a container lets a task do to the enforcement around it.

use std::fmt::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use closedbook_audit::Malformed;
use closedbook_audit::container::{
    self, Audited, Finding, Input, Level, Options, Outcome, Report, Role, Sidecars,
};

use crate::exit::Failure;
use crate::input;
use crate::output::{harmless, is_colourful, print, print_json};

/// More than any input that is read, so that a device or an endless pipe does not fill the memory.
const MOST: u64 = 2 << 20;

#[derive(Args)]
pub(super) struct Container {
    /// What engines and orchestrators are told, or tell; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What the files are, when their content does not say so
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// A container that enforces, by name or id, or the path of the network namespace that is guarded; may be repeated
    ///
    /// Without it, those are found that have closedbook's or Harbor's names, or else whose network others share.
    #[arg(long, value_name = "NAME", conflicts_with = "no_sidecar")]
    sidecar: Vec<String>,
    /// There is none: the tasks must have no network at all
    #[arg(long)]
    no_sidecar: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Docker,
    Podman,
    Compose,
    Oci,
    Kubernetes,
}

impl Container {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let mut read = Vec::new();
        let mut unread = Vec::new();
        for path in &self.files {
            let name =
                if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() };
            match input::bytes(path, MOST) {
                Ok(bytes) => read.push((name, bytes)),
                Err(error) => unread.push(Malformed::whole(name, format!("can't be read: {error}"))),
            }
        }
        let inputs: Vec<Input<'_>> = read.iter().map(|(file, bytes)| Input { file, bytes }).collect();
        let mut report = container::audit(&inputs, &self.options());
        unread.into_iter().for_each(|file| report.add_unread(file));
        match self.json {
            true => print_json(
                &serde_json::to_value(&report)
                    .map_err(|error| Failure::bug(format!("no report: {error}")))?,
            )?,
            false => print(&text(&report, is_colourful()))?,
        }
        for malformed in &report.malformed {
            eprintln!("closedbook: {}", harmless(&malformed.to_string()));
        }
        Ok(ExitCode::from(match report.outcome {
            Outcome::Clean => 0,
            Outcome::Found => 1,
            Outcome::Malformed => 2,
            Outcome::Unknown => 3,
        }))
    }

    fn options(&self) -> Options {
        let sidecars = match (self.no_sidecar, self.sidecar.as_slice()) {
            (true, _) => Sidecars::Absent,
            (false, []) => Sidecars::Found,
            (false, names) => Sidecars::Named(names.to_vec()),
        };
        let format = self.format.map(|format| match format {
            Format::Docker => container::Format::Docker,
            Format::Podman => container::Format::Podman,
            Format::Compose => container::Format::Compose,
            Format::Oci => container::Format::Oci,
            Format::Kubernetes => container::Format::Kubernetes,
        });
        Options { format, sidecars }
    }
}

fn text(report: &Report, colour: bool) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_text(&mut text, report, colour);
    text
}

fn write_text(out: &mut String, report: &Report, colour: bool) -> fmt::Result {
    for finding in &report.general {
        write_finding(out, finding, colour)?;
    }
    let mut containers: Vec<&Audited> = report.containers.iter().collect();
    let worst = |one: &Audited| one.findings.first().map_or(Level::Note, |finding| finding.level);
    containers.sort_by_key(|one| worst(one));
    for one in containers {
        let role = match one.role {
            Role::Sidecar => "sidecar",
            Role::Task => "task",
        };
        writeln!(out, "{} ({role})  {}", harmless(&one.name), harmless(&one.file))?;
        writeln!(out, "  network        {}", harmless(&one.network))?;
        writeln!(out, "  capabilities   {}", capabilities(one))?;
        for finding in &one.findings {
            write_finding(out, finding, colour)?;
        }
        if one.more > 0 {
            writeln!(out, "  and {} more findings that are not worse", one.more)?;
        }
    }
    let count = |level: Level| report.findings().filter(|finding| finding.level == level).count();
    let [breaks, weakens, unknown, note] = Level::ALL.map(count);
    let all = report.containers.len();
    let what = if all == 1 { "container" } else { "containers" };
    write!(out, "{all} {what}: {breaks} breaks, {weakens} weakens, {unknown} unknown, {note} notes")?;
    match report.malformed.len() {
        0 => writeln!(out),
        malformed => writeln!(out, "; {malformed} could not be read"),
    }
}

fn write_finding(out: &mut String, finding: &Finding, colour: bool) -> fmt::Result {
    let word = finding.level.word();
    let word = match (colour, finding.level) {
        (true, Level::Breaks) => format!("\x1b[31m{word:<7}\x1b[0m"),
        (true, Level::Weakens | Level::Unknown) => format!("\x1b[33m{word:<7}\x1b[0m"),
        _ => format!("{word:<7}"),
    };
    let place = finding.place.map_or(String::new(), |place| format!(":{}", place.line));
    writeln!(out, "  {word}  {}  [{}]", harmless(&finding.what), finding.id)?;
    writeln!(out, "           {}{place}  {}", harmless(&finding.file), harmless(&finding.field))?;
    writeln!(out, "           {}", harmless(&finding.allows))?;
    writeln!(out, "           instead: {}", harmless(&finding.remedy))
}

/// What it can hold at most.
fn capabilities(one: &Audited) -> String {
    match one.capabilities.len() {
        0 => "none".to_owned(),
        41.. => "all".to_owned(),
        _ if one.default_capabilities > 0 => {
            format!("{} ({} by default)", one.capabilities.join(" "), one.default_capabilities)
        }
        _ => one.capabilities.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_file_says_is_shown_and_not_obeyed() {
        let source = "services:\n  \"a\\e[2J\":\n    network_mode: host\n    cap_drop: [ALL]\n";
        let inputs = [Input { file: "compose.yaml", bytes: source.as_bytes() }];
        let report = container::audit(&inputs, &Options::default());
        let shown = text(&report, false);
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(
            shown.contains("a\\u{1b}[2J (task)  compose.yaml\n  network        the machine's\n"),
            "{shown}"
        );
        assert!(shown.ends_with("1 container: 2 breaks, 0 weakens, 0 unknown, 3 notes\n"), "{shown}");
        assert!(text(&report, true).contains("\u{1b}[31mbreaks \u{1b}[0m"));
    }
}
