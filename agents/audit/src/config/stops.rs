//! Reasons for which a CLI ends before it offers anything.

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
            let text = format!("{:?} {what}", fault.at.text);
            scene.remark(fault.at.origin.clone(), text.clone());
            self.because(text);
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
