//! A run that is watched: which processes and namespaces belong to it, and that none is left.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Gid, Pid, Uid, chown};
use serde_json::Value;
use tempfile::TempDir;

use super::{Mode, USER, beginning_as, offspring, open_folder, program, python};

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Supervisor,
    Proxy,
    Init,
    Lab,
}

/// A run of the command, in a lab, with folders of its own for all that it may leave.
pub struct Life {
    child: Child,
    pub orders: Option<ChildStdin>,
    pub answers: BufReader<ChildStdout>,
    errors: ChildStderr,
    folder: TempDir,
    seen: Seen,
    /// The lab's own file of what has arrived: written at once, and here to be read after whatever has been killed.
    arrivals: Option<File>,
}

#[derive(Default)]
struct Seen {
    processes: HashSet<(u32, u64)>,
    namespaces: HashSet<PathBuf>,
    /// When that was, in the kernel's ticks since the start of the machine.
    when: u64,
}

const KINDS: [&str; 5] = ["net", "pid", "mnt", "user", "ipc"];

impl Life {
    /// Runs a program in Python.
    pub fn start(mode: Mode, flags: &[&str], code: &str) -> Self {
        let folder = open_folder();
        for name in ["runtime", "tmp"] {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
            if mode == Mode::Rootless && nix::unistd::geteuid().is_root() {
                chown(&path, Some(Uid::from_raw(USER)), Some(Gid::from_raw(USER))).unwrap();
            }
        }
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let mut command = beginning_as(mode);
        command.args([
            "env",
            &format!("XDG_RUNTIME_DIR={}", at("runtime")),
            &format!("TMPDIR={}", at("tmp")),
        ]);
        command.args([program(), "run", "--lab"]).args(flags);
        command.args([
            "--witness",
            &at("witness.jsonl"),
            "--log",
            &at("egress.jsonl"),
            "--",
            python(),
            "-c",
            code,
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir("/");
        let mut child = command.spawn().unwrap();
        let (orders, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let errors = child.stderr.take().unwrap();
        Self { child, orders, answers, errors, folder, seen: Seen::default(), arrivals: None }
    }

    /// One of its folders.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The next line that the command says; empty when it has ended.
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub fn say(&mut self, order: &str) -> String {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        self.hear()
    }

    /// Notes everything that belongs to the run now.
    pub fn look(&mut self) {
        if self.arrivals.is_none() {
            self.arrivals = self.find_arrivals();
        }
        self.seen.when = now();
        let own: HashSet<PathBuf> =
            KINDS.iter().filter_map(|kind| namespace(std::process::id(), kind)).collect();
        for pid in offspring(self.child.id()).into_iter().map(|process| process.pid).chain([self.child.id()])
        {
            self.seen.processes.extend(started(pid).map(|when| (pid, when)));
            self.seen.namespaces.extend(KINDS.iter().filter_map(|kind| namespace(pid, kind)));
        }
        self.seen.namespaces.retain(|namespace| !own.contains(namespace));
    }

    fn find_arrivals(&self) -> Option<File> {
        let labs = fs::read_dir(self.folder("runtime").join("closedbook")).ok()?;
        labs.flatten().find_map(|lab| File::open(lab.path().join("witness.jsonl")).ok())
    }

    /// The process that is this part, if it is there yet.
    pub fn part(&self, part: Part) -> Option<u32> {
        let supervisor = self.child.id();
        let children = offspring(supervisor);
        let proxy = |words: &[String]| words.iter().any(|word| word == "outer");
        let network = |pid: u32| namespace(pid, "net");
        match part {
            Part::Supervisor => Some(supervisor),
            Part::Proxy => children.iter().find(|child| proxy(&child.words)).map(|child| child.pid),
            // The lab is the first child, and the proxy is in its network.
            Part::Lab => children.first().map(|child| child.pid),
            Part::Init => children
                .iter()
                .skip(1)
                // A proxy that was killed and not been waited for has neither words nor network.
                .find(|child| {
                    let network_of = network(child.pid);
                    !proxy(&child.words) && network_of.is_some() && network_of != network(supervisor)
                })
                .map(|child| child.pid),
        }
    }

    /// Kills a part; false if there is none.
    pub fn kill(&mut self, part: Part) -> bool {
        self.look();
        let Some(pid) = self.part(part) else { return false };
        // Not waited for before `end`, so the number is its own still.
        let killed = kill(Pid::from_raw(pid as i32), Signal::SIGKILL).is_ok();
        // kill(2) only sends: what the process would still do on another processor is none of what comes after.
        while !has_ended(pid) {
            std::thread::yield_now();
        }
        killed
    }

    /// Waits for the end of all of it; what the supervisor ended with and said on stderr.
    #[track_caller]
    pub fn end(self) -> Ended {
        self.end_with_last_words().0
    }

    /// The same, with what the command said when it was told no more.
    #[track_caller]
    pub fn end_with_last_words(mut self) -> (Ended, String) {
        self.look();
        drop(self.orders.take());
        // Its end is what is waited for.
        let mut last_words = String::new();
        self.answers.read_to_string(&mut last_words).unwrap();
        // Its end is the end of every process of the run: all hold it.
        let mut errors = String::new();
        self.errors.read_to_string(&mut errors).unwrap();
        let status = self.child.wait().unwrap();
        let seen = std::mem::take(&mut self.seen);
        eventually(|| left(&seen));
        let files = ["runtime", "tmp"].map(|name| self.folder.path().join(name));
        eventually(|| files.iter().flat_map(|folder| files_below(folder)).collect());
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert!(!mounts.contains(&*self.folder.path().to_string_lossy()), "{mounts}");
        let mut witness = String::new();
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.read_to_string(&mut witness).unwrap();
        }
        (Ended { status, errors, witness, log: log(&self.folder.path().join("egress.jsonl")) }, last_words)
    }
}

/// How a run has ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub errors: String,
    /// What the lab saw; empty if it was killed before it had a file for that.
    pub witness: String,
    pub log: Vec<Value>,
}

/// A killed writer may leave half a line, and no more than that.
fn log(path: &PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn namespace(pid: u32, kind: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok()
}

/// Whether all of a process's threads have ended, and with them its sockets; it may still wait to be waited for.
fn has_ended(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    let leader = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    leader == Some('Z') && threads <= 1
}

/// When a process started, in ticks: with its number, what tells it from a later one.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()
}

/// Now, in the same ticks, of which every Linux shows a hundred a second.
fn now() -> u64 {
    let uptime = fs::read_to_string("/proc/uptime").unwrap();
    (uptime.split(' ').next().unwrap().parse::<f64>().unwrap() * 100.0) as u64
}

/// Processes and namespaces that are still there.
fn left(seen: &Seen) -> Vec<String> {
    let pids = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let mut found = Vec::new();
    for pid in pids {
        let Some(when) = started(pid) else { continue };
        if seen.processes.contains(&(pid, when)) {
            found.push(format!("process {pid}"));
        }
        // The numbers of namespaces are used again, by whoever starts something later.
        let inside =
            KINDS.iter().filter_map(|kind| namespace(pid, kind)).find(|one| seen.namespaces.contains(one));
        found.extend(
            inside.filter(|_| when <= seen.when).map(|one| format!("process {pid} in {}", one.display())),
        );
    }
    found
}

/// Files, sockets and links; folders that are empty are not counted.
fn files_below(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => {
                found.extend(files_below(&path));
                // A lab's own folder goes with it; that of all control sockets is nobody's own.
                let own = folder.ends_with("closedbook") && !path.ends_with("runs");
                found.extend(own.then(|| path.to_string_lossy().into_owned()));
            }
            false => found.push(path.to_string_lossy().into_owned()),
        }
    }
    found
}

/// The kernel ends processes when it gets round to it; that takes no time worth mentioning.
#[track_caller]
fn eventually(left: impl Fn() -> Vec<String>) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let found = left();
        if found.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left behind: {found:?}");
        thread::sleep(Duration::from_millis(2));
    }
}
