//! The table of exit codes, and the one place that prints a failure.
//!
//! 0 fine · 1 a check failed or something was refused · 2 usage · 3 inconclusive · 4 the host lacks something ·
//! 70 our bug. `run` returns the command's own code.

use std::error::Error;
use std::process::ExitCode;

/// Why the program ends without having done what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    what: String,
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum Code {
    Refused = 1,
    Usage = 2,
    Inconclusive = 3,
    Host = 4,
    Bug = 70,
}

impl Failure {
    /// A check failed, or something was refused.
    pub(crate) fn refused(what: impl Into<String>) -> Self {
        Self::new(Code::Refused, what)
    }

    /// The user asked for something that can't be: a wrong flag, a wrong file.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(Code::Usage, what)
    }

    /// It can't be told, which is never fine.
    pub(crate) fn inconclusive(what: impl Into<String>) -> Self {
        Self::new(Code::Inconclusive, what)
    }

    /// The host lacks something that is named.
    pub(crate) fn host(what: impl Into<String>) -> Self {
        Self::new(Code::Host, what)
    }

    /// Another program ended with this code, and whoever asked for it goes by that.
    pub(crate) fn of_another(code: u8, what: impl Into<String>) -> Self {
        Self { code: code.max(Code::Refused as u8), what: what.into(), remedy: None }
    }

    /// Something that can't happen happened.
    pub(crate) fn bug(what: impl Into<String>) -> Self {
        Self::new(Code::Bug, what)
    }

    fn new(code: Code, what: impl Into<String>) -> Self {
        Self { code: code as u8, what: what.into(), remedy: None }
    }

    /// What the user can do about it.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        self.remedy.as_ref().map_or(Ok(()), |remedy| write!(f, " (remedy: {remedy})"))
    }
}

/// An error and its sources on one line, none repeated.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

/// Prints a failure and gives its exit code.
pub(crate) fn report(failure: Failure) -> ExitCode {
    eprintln!("closedbook: {}", failure.what);
    if let Some(remedy) = failure.remedy {
        eprintln!("  remedy: {remedy}");
    }
    ExitCode::from(failure.code)
}

/// Prints what clap has to say: help and version are fine, the rest is usage.
pub(crate) fn usage(error: clap::Error) -> ExitCode {
    // A closed terminal is no reason for another exit code.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { Code::Usage as u8 } else { 0 })
}
