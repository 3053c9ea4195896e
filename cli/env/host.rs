//! What the machine has, found by trying where that can be done.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use closedbook_agents::Table;
use serde::Serialize;

use crate::child::Ended;
use crate::output::harmless;

/// What was found out about one thing.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    /// What was looked at.
    pub(super) what: &'static str,
    /// How it is.
    pub(super) state: State,
    /// What was seen.
    pub(super) said: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remedy: Option<String>,
}

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// As it should be.
    Fit,
    /// Worth knowing.
    Note,
    /// Nothing can be enforced here.
    Unfit,
}

/// How long a program may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(20);
/// Room for a job folder: reports and logs.
const ROOM: u64 = 100 << 20;

/// Looks at everything. `records`: a job folder is going to be written.
pub(super) fn look(jobs: &Path, records: bool) -> Vec<Finding> {
    let mut findings = vec![sealing(), landlock(), clock(), engine("docker"), engine("podman")];
    findings.retain(|finding| !finding.said.is_empty());
    if records {
        findings.push(disk(jobs));
    }
    findings
}

/// The whole of it: a command that may reach nothing is sealed, which takes namespaces, rules that are read back, listeners,
/// the self-test. The message of the failure names what is missing.
fn sealing() -> Finding {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.trim();
    let mut command = Command::new("/proc/self/exe");
    command.args(["run", "--quiet", "--", "/proc/self/exe", "--version"]);
    match Ended::of(&mut command, PATIENCE) {
        Ok(ended) if ended.code == Some(0) => Finding {
            what: "kernel",
            state: State::Fit,
            said: format!("{kernel}: namespaces, packet rules and their self-test (tried)"),
            remedy: None,
        },
        Ok(ended) => {
            let lines = ended.last_lines(2);
            let remedy =
                lines.iter().find_map(|line| line.trim().strip_prefix("remedy: ")).map(str::to_owned);
            let said = lines.iter().find_map(|line| line.strip_prefix("closedbook: "));
            let said =
                said.map_or_else(|| format!("a sealed command ended with {:?}", ended.code), str::to_owned);
            Finding { what: "kernel", state: State::Unfit, said: format!("{kernel}: {said}"), remedy }
        }
        Err(error) => Finding {
            what: "kernel",
            state: State::Unfit,
            said: format!("{kernel}: can't start a command: {error}"),
            remedy: None,
        },
    }
}

fn landlock() -> Finding {
    let modules = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
    let has = modules.trim().split(',').any(|module| module == "landlock");
    let unknown = modules.is_empty();
    let (state, said, remedy) = match (has, unknown) {
        (true, _) => (State::Fit, "takes the file system from the proxy".to_owned(), None),
        (false, true) => (State::Note, "can't be told: /sys/kernel/security is not mounted".to_owned(), None),
        (false, false) => (
            State::Note,
            "not in this kernel: the proxy is confined by its system-call list alone".to_owned(),
            Some("boot with landlock among the lsm= modules".to_owned()),
        ),
    };
    Finding { what: "landlock", state, said, remedy }
}

/// Certificates are judged by the clock. The table's own date is a moment that is past for sure.
fn clock() -> Finding {
    use time::format_description::well_known::Rfc3339;
    let now = time::OffsetDateTime::from(SystemTime::now());
    let today = now.date().to_string();
    let past = match Table::embedded() {
        Ok(table) => table.date().to_owned(),
        Err(fault) => {
            let said = format!("can't be compared with the agent table's date: {fault}");
            return Finding { what: "clock", state: State::Unfit, said, remedy: None };
        }
    };
    let shown = now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default();
    if today < past {
        Finding {
            what: "clock",
            state: State::Unfit,
            said: format!("{shown}, and this program knows of {past}: no certificate can be judged"),
            remedy: Some("set the clock".to_owned()),
        }
    } else {
        Finding { what: "clock", state: State::Fit, said: shown, remedy: None }
    }
}

/// A container engine, if it is installed: nothing here needs one, tasks in containers do. No line where it is not.
fn engine(program: &'static str) -> Finding {
    let mut finding = Finding { what: program, state: State::Fit, said: String::new(), remedy: None };
    let format = match program {
        "docker" => "{{.ServerVersion}}|{{.OperatingSystem}}|{{.KernelVersion}}",
        _ => "{{.Version.Version}}|{{.Host.Distribution.Distribution}}|{{.Host.Kernel}}",
    };
    let ended = match Ended::of(Command::new(program).args(["info", "--format", format]), PATIENCE) {
        Ok(ended) => ended,
        Err(_) => return finding,
    };
    let line = ended.stdout.lines().next().unwrap_or_default().to_owned();
    let parts: Vec<&str> = line.split('|').collect();
    match (ended.code, parts.as_slice()) {
        (Some(0), [version, system, kernel]) if !version.is_empty() => {
            finding.said = harmless(&format!("{version} on {system}, kernel {kernel}")).into_owned();
            if system.contains("Docker Desktop") || kernel.contains("linuxkit") {
                finding.state = State::Note;
                finding.remedy = Some(
                    "Docker Desktop's kernel may lack nft_fib; use OrbStack or a remote Linux host"
                        .to_owned(),
                );
            }
        }
        _ => {
            finding.state = State::Note;
            finding.said = format!("installed, and does not answer: {}", ended.last_line());
            finding.remedy = Some("start its service, if tasks run in its containers".to_owned());
        }
    }
    finding
}

fn disk(jobs: &Path) -> Finding {
    // The folder is made later; its nearest parent that is there tells as well.
    let there = jobs.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    match nix::sys::statvfs::statvfs(there) {
        Ok(stat) => {
            let free = stat.blocks_available() * stat.fragment_size();
            let (state, remedy) = match free < ROOM {
                true => (State::Unfit, Some("make room, or name another folder with --jobs-dir".to_owned())),
                false => (State::Fit, None),
            };
            let said = format!("{} MB free for {}", free >> 20, jobs.display());
            Finding { what: "disk", state, said, remedy }
        }
        Err(error) => Finding {
            what: "disk",
            state: State::Unfit,
            said: format!("can't look at {}: {error}", there.display()),
            remedy: Some("name another folder with --jobs-dir".to_owned()),
        },
    }
}

impl Finding {
    /// For people.
    pub(super) fn line(&self, colour: bool) -> String {
        let (word, code) = match self.state {
            State::Fit => ("ok", 32),
            State::Note => ("note", 33),
            State::Unfit => ("FAIL", 31),
        };
        let word = if colour { format!("\u{1b}[{code}m{word:4}\u{1b}[0m") } else { format!("{word:4}") };
        let remedy =
            self.remedy.as_ref().map_or_else(String::new, |remedy| format!("     remedy: {remedy}\n"));
        format!("{word} {:9} {}\n{remedy}", self.what, self.said)
    }
}
