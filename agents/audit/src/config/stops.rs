//! Reasons for which a CLI ends before it offers anything.

use crate::Malformed;

use super::argv::{Arguments, Wrong};
use super::{Says, Scene, State, ToolReport};

/// Reasons, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Stops(Vec<String>);

impl Stops {
    /// One more reason.
    pub(crate) fn because(&mut self, reason: impl Into<String>) {
        self.0.push(reason.into());
    }

    /// One more reason, which lies in an argument, a variable or a file as a whole.
    pub(crate) fn refused(
        &mut self,
        scene: &mut Scene<'_>,
        what: impl Into<String>,
        reason: impl Into<String>,
    ) {
        let (what, reason) = (what.into(), reason.into());
        self.0.push(format!("{what}: {reason}"));
        scene.malformed(Malformed::whole(what, reason));
    }

    /// The first reason.
    pub(crate) fn first(&self) -> Option<&str> {
        self.0.first().map(String::as_str)
    }

    /// What the CLI's own library would refuse in the arguments.
    pub(crate) fn arguments(&mut self, scene: &mut Scene<'_>, arguments: &Arguments<'_>) {
        for fault in &arguments.faults {
            let what = match fault.what {
                Wrong::Unknown => "is no flag that is known of this CLI",
                Wrong::NoValue => "lacks its value",
                Wrong::Value => "takes no value",
            };
            self.refused(scene, fault.at.origin.to_string(), format!("{:?} {what}", fault.at.text));
        }
    }

    /// A value that a file should have, or the reason for which the CLI ends at it.
    pub(crate) fn unless<T>(&mut self, read: Result<Option<T>, String>) -> Option<T> {
        read.unwrap_or_else(|reason| {
            self.because(reason);
            None
        })
    }

    /// A CLI that does not start offers nothing, but nobody leaves it so: what is offered once the fault is mended is
    /// not known. Only what a setting switches on is on regardless.
    pub(crate) fn doubt(&self, mut tool: ToolReport) -> ToolReport {
        let is_said = tool.settings.iter().any(|setting| setting.says == Says::On);
        if let (Some(reason), false) = (self.0.first(), is_said) {
            tool.state = State::Unknown;
            tool.why = format!("the CLI would end with an error: {reason}; otherwise: {}", tool.why);
        }
        tool
    }
}
