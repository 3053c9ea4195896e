//! The CLIs that can be audited: for each, the versions that its rules were measured with.

use super::argv::{Arguments, Wrong};
use super::{Launch, Origin, Report, Scene, State};
use crate::Malformed;

mod aider;
mod claude_code;
mod codex;
mod copilot_cli;
mod gemini_cli;
mod gemini_family;
mod goose;
mod grok_build;
mod kimi_cli;
mod mini_swe_agent;
mod opencode;
mod openhands;
mod qwen_code;

/// One CLI.
struct Cli {
    /// The row's name.
    name: &'static str,
    /// The program.
    program: &'static str,
    /// The versions that the rules were measured with, the row's own first.
    measured: &'static [&'static str],
    /// Notes what is to be said.
    audit: fn(&mut Scene<'_>),
}

/// By name.
const CLIS: &[Cli] = &[
    Cli { name: "aider", program: "aider", measured: &["0.86.2"], audit: aider::audit },
    Cli {
        name: "claude-code",
        program: "claude",
        measured: &["2.1.295", "2.1.332"],
        audit: claude_code::audit,
    },
    Cli { name: "codex", program: "codex", measured: &["0.162.0", "0.171.0"], audit: codex::audit },
    Cli { name: "copilot-cli", program: "copilot", measured: &["1.0.102"], audit: copilot_cli::audit },
    Cli { name: "gemini-cli", program: "gemini", measured: &["0.61.0"], audit: gemini_cli::audit },
    Cli { name: "goose", program: "goose", measured: &["1.9.0"], audit: goose::audit },
    Cli { name: "grok-build", program: "grok", measured: &["1.0.41"], audit: grok_build::audit },
    Cli { name: "kimi-cli", program: "kimi", measured: &["1.47.0"], audit: kimi_cli::audit },
    Cli { name: "mini-swe-agent", program: "mini", measured: &["2.4.6"], audit: mini_swe_agent::audit },
    Cli { name: "opencode", program: "opencode", measured: &["1.18.33"], audit: opencode::audit },
    Cli { name: "openhands", program: "openhands", measured: &["1.16.0"], audit: openhands::audit },
    Cli { name: "qwen-code", program: "qwen", measured: &["0.24.4"], audit: qwen_code::audit },
];

/// The names of the agents that can be audited, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    CLIS.iter().map(|cli| cli.name)
}

/// What a start of this agent would offer; `None` if there is no auditor for it.
pub fn audit(agent: &str, launch: &Launch<'_>) -> Option<Report> {
    let cli = CLIS.iter().find(|cli| cli.name == agent)?;
    let launch = cli.without_program(launch);
    let mut scene = Scene::new(agent, &launch);
    (cli.audit)(&mut scene);
    let mut report = scene.finish();
    cli.doubt(&mut report);
    Some(report)
}

/// Notes arguments that the CLI does not accept: it would not start, or would take them for something else.
fn refused(scene: &mut Scene<'_>, arguments: &Arguments<'_>) {
    for fault in &arguments.faults {
        let reason = match fault.what {
            Wrong::Unknown => "this CLI has no such flag and does not start with it",
            Wrong::NoValue => "it needs a value, and none follows",
            Wrong::Value => "it takes no value",
        };
        let reason = format!("{:?}: {reason}", fault.at.text);
        scene.malformed(Malformed::whole(fault.at.origin.to_string(), reason));
    }
}

impl Cli {
    /// A start whose arguments begin after the program's name, which people give as well.
    fn without_program<'a>(&self, launch: &Launch<'a>) -> Launch<'a> {
        let mut argv = launch.argv.clone();
        let is_program = |word: &str| word.rsplit('/').next() == Some(self.program);
        if let Some(argv) = &mut argv
            && argv.first().is_some_and(|(word, _)| is_program(word))
        {
            argv.remove(0);
        }
        Launch {
            argv,
            env: launch.env.clone(),
            env_is_whole: launch.env_is_whole,
            home: launch.home.clone(),
            workdir: launch.workdir.clone(),
            uid: launch.uid,
            version: launch.version.clone(),
            files: launch.files,
        }
    }

    /// A rule holds for the version that it was measured with: with another one, what it says is off is unknown.
    fn doubt(&self, report: &mut Report) {
        let measured = self.measured.join(" and ");
        let Some(version) = report.version.clone() else {
            let text = format!("the version is not given: the rules are those of {measured}");
            report.remarks.push(super::Remark { origin: Origin::Default, text });
            return;
        };
        if self.measured.contains(&version.trim_start_matches('v')) {
            return;
        }
        let doubt = |state: &mut State, why: &mut String| {
            if *state == State::Off {
                *state = State::Unknown;
                *why =
                    format!("the rules were measured with {measured}, this is {version}; with those: {why}");
            }
        };
        report.tools.iter_mut().for_each(|tool| doubt(&mut tool.state, &mut tool.why));
        report.brings.iter_mut().for_each(|bringer| doubt(&mut bringer.state, &mut bringer.why));
    }
}
