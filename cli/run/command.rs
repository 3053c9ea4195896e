//! The command itself: the last steps before execve(2).

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process;

use closedbook_kernel::descriptors;
use closedbook_kernel::namespace;
use closedbook_kernel::seccomp;
use nix::sched::CloneFlags;
use nix::sys::signal::SigSet;

use super::init::FromCommand;
use super::wire::{Line, ToInit};

/// What the user wants to run, and what is added to its environment.
#[derive(Debug)]
pub(super) struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(String, OsString)>,
}

impl Command {
    /// From the words after `--`; `None` when there are none.
    pub(super) fn new(words: Vec<OsString>) -> Option<Self> {
        let mut words = words.into_iter();
        Some(Self { program: words.next()?, arguments: words.collect(), environment: Vec::new() })
    }

    /// Adds variables to the environment, which is the caller's otherwise.
    pub(super) fn with_environment(mut self, variables: Vec<(String, OsString)>) -> Self {
        self.environment.extend(variables);
        self
    }

    /// Becomes the command. Comes back, with an exit code that nobody reads, only if that fails.
    ///
    /// `line` closes by execve(2): that is how the other side learns that all went well.
    pub(super) fn start(self, mut line: Line) -> u8 {
        let failed = match self.confine(&mut line) {
            Err(error) => {
                FromCommand::Failed { code: 126, what: format!("can't confine the command: {error}") }
            }
            Ok(()) => self.execute(),
        };
        let _ = line.say(&failed);
        126
    }

    /// Its own user namespace, so that no capability it holds counts over the network; its own mounts, so that what
    /// is covered can't be uncovered; the filter; and none of our descriptors.
    fn confine(&self, line: &mut Line) -> Result<(), String> {
        let kinds = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
        namespace::leave_for_new(kinds).map_err(|error| crate::exit::chain(&error))?;
        line.say(&FromCommand::Unmapped).map_err(|error| error.to_string())?;
        match line.hear::<ToInit>() {
            Ok(Some(ToInit::Mapped)) => {}
            other => return Err(format!("the id maps did not come: {other:?}")),
        }
        seccomp::confine_task().map_err(|error| format!("the system-call filter: {error}"))?;
        descriptors::close_others_on_exec().map_err(|error| format!("closing descriptors: {error}"))?;
        SigSet::all().thread_unblock().map_err(|error| format!("signals: {error}"))
    }

    fn execute(self) -> FromCommand {
        let Self { program, arguments, environment } = self;
        let error = process::Command::new(&program).args(arguments).envs(environment).exec();
        let name = program.to_string_lossy();
        match error.kind() {
            io::ErrorKind::NotFound => {
                FromCommand::Failed { code: 127, what: format!("can't run {name}: {error}") }
            }
            // execvp(3) says so too when a folder in PATH can't be entered; a shell says that there is none.
            io::ErrorKind::PermissionDenied if !is_in_path(&program) => {
                FromCommand::Failed { code: 127, what: format!("can't run {name}: not found in PATH") }
            }
            _ => FromCommand::Failed { code: 126, what: format!("can't run {name}: {error}") },
        }
    }
}

/// Whether the program can be seen; one that is named by a path is looked for nowhere else.
fn is_in_path(program: &OsStr) -> bool {
    if program.as_encoded_bytes().contains(&b'/') {
        return true;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).exists())
}
