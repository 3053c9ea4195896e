//! A run that goes on while the test does: spoken to by its standard streams, and controlled from outside.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{Mode, Outcome, Run, USER, as_mode, open_folder, program};

/// A sealed command that is running.
pub struct Live {
    run: Run,
    mode: Mode,
    child: Child,
    says: ChildStdin,
    lines: BufReader<ChildStdout>,
    runtime: PathBuf,
}

/// A folder that only the user of this mode may enter, as a runtime folder is.
pub fn private_folder(mode: Mode) -> TempDir {
    use std::os::unix::fs::PermissionsExt;
    let folder = open_folder();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    if mode == Mode::Rootless && nix::unistd::geteuid().is_root() {
        let user = (Some(USER.into()), Some(USER.into()));
        nix::unistd::chown(folder.path(), user.0, user.1).unwrap();
    }
    folder
}

/// A command of the program that speaks to the runs of this runtime folder.
pub fn ask(mode: Mode, runtime: &std::path::Path, words: &[&str]) -> Output {
    let mut command = as_mode(mode, true);
    command.arg(format!("XDG_RUNTIME_DIR={}", runtime.display())).arg(program()).args(words);
    command.stdin(Stdio::null()).output().unwrap()
}

impl Live {
    /// Starts these words sealed. `run` has its runtime folder from here.
    pub fn start(run: Run, mode: Mode, runtime: &TempDir, words: &[&str]) -> Self {
        let run = run.runtime_in(runtime.path());
        let mut command = run.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (says, lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { run, mode, child, says, lines, runtime: runtime.path().to_owned() }
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Says one line to the command.
    pub fn say(&mut self, line: &str) {
        writeln!(self.says, "{line}").unwrap();
        self.says.flush().unwrap();
    }

    /// The next line of the command.
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut complaints = String::new();
            std::io::Read::read_to_string(self.child.stderr.as_mut().unwrap(), &mut complaints).unwrap();
            panic!("the command has ended: {complaints}");
        }
        line.trim_end().to_owned()
    }

    /// A command that is for this run, whatever others the same user has.
    pub fn ask(&self, words: &[&str]) -> Output {
        let named = words.iter().any(|word| ["--pid", "--name", "--control"].contains(word));
        let pid = self.id().to_string();
        let this: &[&str] = if named { &[] } else { &["--pid", &pid] };
        self.find(&[words, this].concat())
    }

    /// A command that has to find out which run is meant.
    pub fn find(&self, words: &[&str]) -> Output {
        ask(self.mode, &self.runtime, words)
    }

    /// The same, which must succeed; what it prints.
    #[track_caller]
    pub fn must(&self, words: &[&str]) -> String {
        let output = self.ask(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same, which must print JSON.
    #[track_caller]
    pub fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.must(words)).unwrap()
    }

    /// Waits for the command's end.
    pub fn end(self) -> Outcome {
        self.end_with_files().0
    }

    /// Waits for the command's end, and keeps the files of the run.
    pub fn end_with_files(mut self) -> (Outcome, Run) {
        drop(self.says);
        let mut stdout = Vec::new();
        std::io::Read::read_to_end(&mut self.lines, &mut stdout).unwrap();
        let mut output = self.child.wait_with_output().unwrap();
        output.stdout = stdout;
        (self.run.outcome(output), self.run)
    }
}
