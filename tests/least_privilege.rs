//! G17: what the parts of a live run hold, as the kernel says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;

use support::{Mode, Run, modes};

/// A run whose command has started and waits for its input to end.
struct Live {
    run: Run,
    supervisor: Child,
}

impl Live {
    fn start(mode: Mode) -> Self {
        let run = Run::in_lab(mode).allow("api.anthropic.com");
        let script = "curl -sSo /dev/null https://api.anthropic.com/ && echo ready && exec cat";
        let mut supervisor = run
            .command(&["bash", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(supervisor.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n");
        Self { run, supervisor }
    }

    /// The proxy.
    fn outer(&self) -> Process {
        let outer = |process: &Process| process.command_line().contains("sidecar\0outer");
        self.children().into_iter().find(outer).unwrap()
    }

    /// Process 1 of the command's namespaces.
    fn init(&self) -> Process {
        let has_the_command =
            |process: &Process| process.children().iter().any(|child| child.command_line() == "cat\0");
        // The shell says that it is ready a moment before it becomes the command.
        loop {
            if let Some(init) = self.children().into_iter().find(has_the_command) {
                return init;
            }
            thread::yield_now();
        }
    }

    fn children(&self) -> Vec<Process> {
        Process(self.supervisor.id()).children()
    }

    fn end(mut self) {
        drop(self.supervisor.stdin.take());
        assert!(self.supervisor.wait().unwrap().success());
    }
}

#[derive(Debug, Clone, Copy)]
struct Process(u32);

impl Process {
    fn file(self, name: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{name}", self.0)).unwrap()
    }

    fn command_line(self) -> String {
        self.file("cmdline")
    }

    fn children(self) -> Vec<Process> {
        let children = self.file(&format!("task/{}/children", self.0));
        children.split_whitespace().map(|pid| Process(pid.parse().unwrap())).collect()
    }

    /// A field of the status of each of its threads, which must all say the same.
    fn status(self, field: &str) -> String {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0)).unwrap();
        let values: BTreeSet<String> = threads
            .map(|thread| {
                let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
                let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
                value.unwrap().trim().to_owned()
            })
            .collect();
        assert_eq!(values.len(), 1, "threads differ in {field}: {values:?}");
        values.into_iter().next().unwrap()
    }

    /// Soft and hard limit.
    fn limit(self, name: &str) -> Vec<String> {
        let limits = self.file("limits");
        let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().take(2).map(String::from).collect()
    }

    /// What its descriptors above the standard streams are. `None` where only root may look.
    fn descriptors(self) -> Option<Vec<(u32, String)>> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.0)).ok()?;
        let mut found: Vec<(u32, String)> = entries
            .filter_map(|entry| {
                let path = entry.unwrap().path();
                let number = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
                // Closed in the meantime.
                Some((number, fs::read_link(path).ok()?.to_str().unwrap().to_owned()))
            })
            .collect();
        found.sort();
        Some(found)
    }

    fn link(self, name: &str) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/{name}", self.0)).ok()
    }
}

/// Holds nothing, can't regain anything, and is under a system-call filter, with every one of its threads.
fn holds_no_privilege(process: Process, bounded: bool) {
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(process.status(set), "0000000000000000", "{set} of {process:?}");
    }
    // Without a capability the bounding set can't be emptied; no_new_privs makes it meaningless.
    if bounded {
        assert_eq!(process.status("CapBnd"), "0000000000000000", "{process:?}");
    }
    assert_eq!(process.status("NoNewPrivs"), "1", "{process:?}");
    assert_eq!(process.status("Seccomp"), "2", "{process:?}");
    for limit in ["Max core file size", "Max locked memory", "Max msgqueue size"] {
        assert_eq!(process.limit(limit), ["0", "0"], "{limit} of {process:?}");
    }
    if let Some(folder) = process.link("cwd") {
        assert_eq!(folder, PathBuf::from("/"));
    }
}

#[test]
fn the_proxy_holds_nothing() {
    for &mode in modes() {
        let live = Live::start(mode);
        let outer = live.outer();
        holds_no_privilege(outer, mode == Mode::Root);
        let ids = outer.status("Uid");
        if mode == Mode::Root {
            assert_eq!(ids, "65534\t65534\t65534\t65534", "root's proxy is nobody");
            assert_eq!(outer.status("Gid"), ids);
            assert_eq!(outer.status("Groups"), "");
        }
        assert_eq!(outer.limit("Max open files")[0], outer.limit("Max open files")[1]);
        live.end();
    }
}

/// What holds the namespace has no capability over it any more, and could start nothing.
#[test]
fn the_anchor_holds_nothing() {
    for &mode in modes() {
        let live = Live::start(mode);
        let init = live.init();
        holds_no_privilege(init, true);
        assert_eq!(init.limit("Max processes"), ["0", "0"]);
        assert_eq!(init.limit("Max open files"), ["64", "64"]);
        // The command keeps its own limits.
        let command = init.children()[0];
        assert_ne!(command.limit("Max processes"), ["0", "0"]);
        assert_ne!(command.limit("Max open files"), ["64", "64"]);
        live.end();
    }
}

/// Sockets, pipes, its log, the file in memory for its successor, and what the kernel tells of the process itself; nothing
/// of the caller's but standard error.
#[test]
fn the_parts_have_nothing_else_open() {
    for &mode in modes() {
        let live = Live::start(mode);
        let log = live.run.file("egress.jsonl").to_str().unwrap().to_owned();
        let own = ["statm", "fd"].map(|file| format!("/proc/{}/{file}", live.outer().0));
        let (Some(outer), Some(init)) = (live.outer().descriptors(), live.init().descriptors()) else {
            eprintln!("=== NOT TESTED: only root may look at descriptors ===");
            return live.end();
        };
        let of_outer = |target: &str| {
            ["socket:", "pipe:", "anon_inode:[event", "/memfd:closedbook-journal"]
                .iter()
                .any(|kind| target.starts_with(kind))
                || target == "/dev/null"
                || target == log
                || own.iter().any(|file| target == file)
        };
        let of_init = |target: &str| {
            ["socket:", "anon_inode:[signalfd]", "anon_inode:[pidfd]", "pidfd:", "/memfd:closedbook-journal"]
                .iter()
                .any(|kind| target.starts_with(kind))
        };
        for (process, expected) in [(&outer, &of_outer as &dyn Fn(&str) -> bool), (&init, &of_init)] {
            for (number, target) in process {
                match number {
                    0 | 1 => assert_eq!(target, "/dev/null", "{process:?}"),
                    2 => {}
                    _ => assert!(expected(target), "{number} is {target}: {process:?}"),
                }
            }
        }
        assert_eq!(outer.iter().filter(|(_, target)| *target == log).count(), 1, "{outer:?}");
        live.end();
    }
}
