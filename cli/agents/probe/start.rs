//! One start of a CLI, sealed in a lab.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use closedbook_agents::{Place, Settings, Switch};
use closedbook_audit::offer::{Offer, Tape};

use super::contacts::{self, Contact};
use crate::child::Ended;
use crate::exit::Failure;
use crate::output::harmless;
use crate::scratch::{Scratch, cannot};

/// What a run may take besides its command, to begin and to end.
const CLOSING: Duration = Duration::from_secs(60);
/// What a run ends with whose command took too long.
const OVER: i32 = 124;

/// What all starts have in common.
pub(super) struct Stage {
    /// The program and its first arguments.
    pub(super) program: Vec<OsString>,
    /// The hosts that are allowed: the model's.
    pub(super) hosts: Vec<String>,
    /// How long a start may take.
    pub(super) within: Duration,
    /// The row's web tools, by name.
    pub(super) tools: Vec<String>,
    /// A host that only the prompt names.
    pub(super) bait: &'static str,
    /// Where records are kept.
    pub(super) keep: Option<PathBuf>,
}

/// A start that is over.
pub(super) struct Start {
    /// `default`, `switched`, `alone-1`.
    pub(super) name: String,
    /// For people.
    pub(super) title: String,
    /// The switches that were set.
    pub(super) set: Vec<String>,
    /// Those that a probe can't set.
    pub(super) not_set: Vec<String>,
    /// How it ended.
    pub(super) ended: Ended,
    /// Whether its time was over.
    pub(super) timed_out: bool,
    /// What the model was offered.
    pub(super) offer: Offer,
    /// Which hosts were asked for.
    pub(super) contacts: Vec<Contact>,
}

/// The switches that a probe can set, and those that it can't: files outside the home folder are the machine's.
pub(super) fn settable<'a>(switches: &[&'a Switch]) -> (Vec<&'a Switch>, Vec<&'a Switch>) {
    switches.iter().partition(|switch| match &switch.place {
        Place::File { file, .. } => file.starts_with("~/"),
        Place::Flag { .. } | Place::Env { .. } => true,
    })
}

impl Stage {
    /// The program, for people.
    pub(super) fn shown(&self) -> String {
        let words: Vec<_> =
            self.program.iter().map(|word| harmless(&word.to_string_lossy()).into_owned()).collect();
        words.join(" ")
    }

    /// `PROGRAM --version`, with nothing allowed.
    pub(super) fn ask_version(&self, within: Duration) -> Result<Ended, Failure> {
        let scratch = Scratch::new()?;
        let mut command = self.command(&scratch, within);
        command.args(["--quiet", "--"]).args(&self.program).arg("--version");
        let ended = self.ended(&mut command, within)?;
        // What a CLI says of its version leaves no such code; the run does, when the machine lacks something.
        match ended.code {
            Some(4) => Err(Failure::host(ended.last_line())),
            _ => Ok(ended),
        }
    }

    /// Starts it with these settings.
    pub(super) fn start(&self, name: &str, title: &str, settings: &Settings) -> Result<Start, Failure> {
        let scratch = Scratch::new()?;
        for (path, text) in &settings.files {
            scratch.write(path, text)?;
        }
        let [log, tape] = ["log", "tape"].map(|kind| scratch.file(kind));
        let mut command = self.command(&scratch, self.within);
        command.args(["--quiet", "--lab"]);
        for host in &self.hosts {
            command.args(["--allow", host]);
        }
        command.arg("--log").arg(&log).arg("--tape").arg(&tape);
        command.arg("--").args(&self.program).args(&settings.args).envs(&settings.env);
        let ended = self.ended(&mut command, self.within)?;
        let recorded = fs::read(&tape).map_err(|error| cannot("read", &tape, &error))?;
        let names: Vec<&str> = self.tools.iter().map(String::as_str).collect();
        let mut offer = match Tape::read("the tape", &recorded) {
            Ok(tape) => Offer::read(&tape, &ended.stdout, &names),
            // Nothing was written down because nothing was started.
            Err(_) if ended.code == Some(4) && recorded.is_empty() => {
                return Err(Failure::host(ended.last_line()));
            }
            Err(malformed) => Offer::unreadable(malformed.to_string()),
        };
        let contacts = contacts::read(&log)?;
        if contacts.iter().any(|contact| contact.host == self.bait) {
            offer.fetched(self.bait);
        }
        if let Some(folder) = &self.keep {
            keep(
                folder,
                name,
                &[
                    ("log.jsonl", &fs::read(&log).unwrap_or_default()),
                    ("tape.jsonl", &recorded),
                    ("stdout", ended.stdout.as_bytes()),
                    ("stderr", ended.stderr.as_bytes()),
                ],
            )?;
        }
        let timed_out = ended.killed || (ended.code == Some(OVER) && ended.took >= self.within);
        let (set, not_set) = (Vec::new(), Vec::new());
        let (name, title) = (name.to_owned(), title.to_owned());
        Ok(Start { name, title, set, not_set, ended, timed_out, offer, contacts })
    }

    /// A sealed run in this home, with an environment of its own: settings of whoever probes must not count.
    fn command(&self, scratch: &Scratch, within: Duration) -> Command {
        // Ourselves, also from a folder that the user can't enter.
        let mut command = Command::new("/proc/self/exe");
        command.arg("run").env_clear().current_dir(scratch.work()).env("HOME", scratch.home());
        command.envs([("TERM", "dumb"), ("LANG", "C.UTF-8")]);
        command.arg("--within").arg(within.as_secs().to_string());
        // The program's path, and where the run keeps its lab.
        for name in ["PATH", "XDG_RUNTIME_DIR"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
    }

    fn ended(&self, command: &mut Command, within: Duration) -> Result<Ended, Failure> {
        Ended::of(command, within + CLOSING)
            .map_err(|error| Failure::host(format!("can't run {}: {error}", self.shown())))
    }
}

fn keep(folder: &Path, start: &str, files: &[(&str, &[u8])]) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| cannot("make the folder", folder, &error))?;
    for (name, octets) in files {
        let path = folder.join(format!("{start}.{name}"));
        fs::write(&path, octets).map_err(|error| cannot("write", &path, &error))?;
    }
    Ok(())
}
