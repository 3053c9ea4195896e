//! What the integration tests share: running a command sealed, in the lab, as root and rootless.
//!
//! Nothing leaves the machine: every run here has the lab for an uplink, or none.

#![allow(unreachable_pub, missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
// Each test program uses its own part of this.
#![allow(dead_code)]

pub mod clients;
pub mod life;
pub mod live;

use std::fmt;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use serde_json::Value;
use tempfile::TempDir;

/// Who runs closedbook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Root, who is root inside too.
    Root,
    /// A user without any capability.
    Rootless,
}

/// An id that owns no process here; tests that run as root step down to it.
pub const USER: u32 = 4711;

/// The modes that can be tried here: both when the tests run as root. Says which, loudly.
pub fn modes() -> &'static [Mode] {
    static SAID: OnceLock<&'static [Mode]> = OnceLock::new();
    SAID.get_or_init(|| {
        let modes: &[Mode] =
            if nix::unistd::geteuid().is_root() { &[Mode::Root, Mode::Rootless] } else { &[Mode::Rootless] };
        say(&format!("closedbook tests run in these modes: {modes:?}"));
        modes
    })
}

/// The program under test, at a path that works for every user: by descriptor, since a checkout may lie in a folder
/// that only its owner can enter.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<(File, String)> = OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let file = File::open(env!("CARGO_BIN_EXE_closedbook")).unwrap();
        fcntl(&file, FcntlArg::F_SETFD(FdFlag::empty())).unwrap();
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        (file, path)
    });
    path
}

/// Whether a program that is not needed everywhere is installed. Says so when it is not: what was not tested must not
/// look as if it had been.
pub fn installed(program: &str) -> bool {
    static MISSING: AtomicUsize = AtomicUsize::new(0);
    let mut look = Command::new("sh");
    look.args(["-c", "command -v \"$1\"", "sh", program]).stdout(Stdio::null());
    if look.status().unwrap().success() {
        return true;
    }
    let missing = MISSING.fetch_add(1, Ordering::Relaxed) + 1;
    say(&format!("NOT TESTED: {program} is not installed ({missing} missing so far)"));
    false
}

/// A line for whoever watches, past the harness, which keeps what passing tests print to itself.
pub fn say(line: &str) {
    use std::io::Write;
    let mut stderr = std::io::stderr();
    writeln!(stderr, "=== {line} ===").unwrap();
}

/// A folder that every user can write to; removed with the value.
pub fn open_folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix("closedbook-test-").tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

/// The program under test as a file in a folder that every user can enter, for a command that is to run it sealed:
/// descriptors do not get that far.
pub fn program_in(folder: &TempDir) -> PathBuf {
    let (source, place) = (env!("CARGO_BIN_EXE_closedbook"), folder.path().join("closedbook"));
    // A link costs nothing; across file systems there is none.
    fs::hard_link(source, &place).or_else(|_| fs::copy(source, &place).map(drop)).unwrap();
    place
}

/// A run of the program in the lab.
pub struct Run {
    mode: Mode,
    arguments: Vec<String>,
    folder: TempDir,
    lab: bool,
    /// The decision log and the witness's file.
    log: PathBuf,
    witness: PathBuf,
    /// Where its control socket and others of the same folder are.
    runtime: Option<PathBuf>,
}

/// What came of it.
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    /// The decision log.
    pub log: Vec<Value>,
    /// What arrived at the lab.
    pub witness: Vec<Value>,
}

impl Run {
    /// In the lab, with nothing allowed.
    pub fn in_lab(mode: Mode) -> Self {
        let folder = open_folder();
        let (log, witness) = (folder.path().join("egress.jsonl"), folder.path().join("witness.jsonl"));
        Self { mode, arguments: Vec::new(), folder, lab: true, log, witness, runtime: None }
    }

    /// With no uplink at all.
    pub fn without_uplink(mode: Mode) -> Self {
        Self { lab: false, ..Self::in_lab(mode) }
    }

    pub fn allow(self, entry: &str) -> Self {
        self.flag("--allow").flag(entry)
    }

    /// One more word for the command line, before `--`.
    pub fn flag(mut self, word: &str) -> Self {
        self.arguments.push(word.into());
        self
    }

    /// With its decision log there.
    pub fn log_to(self, log: &Path) -> Self {
        Self { log: log.to_owned(), ..self }
    }

    /// With its decision log and the witness's file in a folder, below its own, that every user can write to.
    pub fn records_in(self, name: &str) -> Self {
        let folder = self.file(name);
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        Self { log: folder.join("egress.jsonl"), witness: folder.join("witness.jsonl"), ..self }
    }

    /// With this as the user's runtime folder.
    pub fn runtime_in(mut self, runtime: &Path) -> Self {
        self.runtime = Some(runtime.to_owned());
        self
    }

    /// A file in the run's own folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The whole command line, ready to spawn; standard streams are the caller's to set.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = as_mode(self.mode, self.lab);
        // What as_mode ends with is env(1).
        command.args(self.runtime.iter().map(|path| format!("XDG_RUNTIME_DIR={}", path.display())));
        command.arg(program()).arg("run").args(&self.arguments);
        if self.lab {
            command.arg("--lab").arg("--witness").arg(&self.witness);
        }
        command.arg("--log").arg(&self.log).arg("--").args(words);
        command.current_dir(self.folder.path());
        command
    }

    /// Runs a shell script sealed, to its end.
    pub fn script(self, script: &str) -> Outcome {
        self.words(&["bash", "-c", script])
    }

    /// Runs a Python program sealed, to its end.
    pub fn python(self, program: &str) -> Outcome {
        self.words(&["python3", "-c", program])
    }

    /// Runs a command sealed, to its end.
    pub fn words(self, words: &[&str]) -> Outcome {
        let output = self.command(words).stdin(Stdio::null()).output().unwrap();
        self.outcome(output)
    }

    /// What a finished run left.
    pub fn outcome(&self, output: Output) -> Outcome {
        Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            log: lines(&self.log),
            witness: lines(&self.witness),
        }
    }
}

impl Outcome {
    /// Fails the test, with all that is known, unless the command ended with 0.
    #[track_caller]
    pub fn must_succeed(self) -> Self {
        assert_eq!(self.code, 0, "{self:#?}");
        self
    }

    /// Fails the test, with all that is known, unless the command's output holds this text.
    #[track_caller]
    pub fn must_print(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "{text:?} was not printed: {self:#?}");
        self
    }

    /// Fails the test, with all that is known, unless the command's error output holds this text.
    #[track_caller]
    pub fn must_complain(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} was not complained: {self:#?}");
        self
    }

    /// Fails the test, with all that is known, unless exactly so many records have this verdict and reason.
    #[track_caller]
    pub fn must_record(self, count: usize, verdict: &str, reason: &str) -> Self {
        assert_eq!(self.records(verdict, reason), count, "records of {verdict} {reason}: {self:#?}");
        self
    }

    /// Fails the test, with all that is known, if anything that arrived at the lab holds this text.
    #[track_caller]
    pub fn must_not_arrive(self, text: &str) -> Self {
        assert!(!self.arrived(text), "{text:?} arrived: {self:#?}");
        self
    }

    /// The records of this kind, those of DNS questions (`dns`) apart from the others (`tls`, `http`, `tcp`).
    pub fn of_kind(&self, kind: &str) -> Vec<&Value> {
        self.log.iter().filter(|record| record["kind"] == kind).collect()
    }

    /// How many records of the log have this verdict and reason.
    pub fn records(&self, verdict: &str, reason: &str) -> usize {
        self.log.iter().filter(|record| record["verdict"] == verdict && record["reason"] == reason).count()
    }

    /// Whether anything that arrived at the lab holds this text.
    pub fn arrived(&self, text: &str) -> bool {
        self.arrivals(text).next().is_some()
    }

    /// What arrived at the lab and holds this text.
    pub fn arrivals<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a Value> {
        self.witness.iter().filter(move |arrival| arrival.to_string().contains(text))
    }
}

/// For people who read why a test failed: text as it was printed, one line a record.
impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr, log, witness } = self;
        write!(f, "exit code {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n--- decision log\n")?;
        log.iter().try_for_each(|record| writeln!(f, "{record}"))?;
        f.write_str("--- arrived at the lab\n")?;
        witness.iter().try_for_each(|arrival| {
            let field = |name: &str| &arrival[name];
            let (proto, local, port) = (field("proto"), field("local"), field("local_port"));
            writeln!(f, "{proto} to {local}:{port} {} {} {}", field("name"), field("detail"), field("ascii"))
        })
    }
}

/// A command line that begins as this user. Without the lab, in a network namespace with no uplink of its own.
pub fn as_mode(mode: Mode, lab: bool) -> Command {
    let root = nix::unistd::geteuid().is_root();
    let mut words: Vec<String> = Vec::new();
    if !lab {
        let flags = if root { "-n" } else { "-Un" };
        words.extend(["unshare", flags, "--"].map(String::from));
    }
    if root && mode == Mode::Rootless {
        let user = format!("--reuid={USER}");
        let group = format!("--regid={USER}");
        words.extend(["setpriv", &user, &group, "--clear-groups", "--inh-caps=-all", "--"].map(String::from));
    }
    words.extend(["env", "-u", "XDG_RUNTIME_DIR"].map(String::from));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// A command line that begins as this user, with the network as it is.
pub fn beginning_as(mode: Mode) -> Command {
    as_mode(mode, true)
}

/// A Python that every user can start: a shim of a version manager lies in its owner's home.
pub fn python() -> &'static str {
    if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" }
}

/// A process as /proc shows it.
#[derive(Debug, Clone)]
pub struct Process {
    pub pid: u32,
    pub words: Vec<String>,
}

/// All processes below this one, nearest first.
pub fn offspring(pid: u32) -> Vec<Process> {
    let mut found = vec![Process { pid, words: Vec::new() }];
    let mut next = 0;
    while next < found.len() {
        let pid = found[next].pid;
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        found.extend(children.split_whitespace().map(|pid| {
            let pid = pid.parse().unwrap();
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
            Process { pid, words: words.collect() }
        }));
        next += 1;
    }
    found.remove(0);
    found
}

fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a command to its end with this on its standard input.
pub fn with_input(mut command: Command, input: &[u8]) -> Output {
    use std::io::Write;
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}
