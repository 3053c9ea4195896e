//! The report, for people.

use std::fmt::{self, Write};

use closedbook_audit::config::{Origin, Report, Says, Setting, State, Verdict};

use super::Audited;
use crate::output::harmless;

/// Reports one after the other, and a last line.
pub(super) fn text(audited: &[Audited], verdict: Verdict, verbose: bool) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(&mut text, audited, verdict, verbose);
    text
}

fn write_all(out: &mut String, audited: &[Audited], verdict: Verdict, verbose: bool) -> fmt::Result {
    for Audited { field, report } in audited {
        let version = report.version.as_deref().unwrap_or("version not given");
        let whence = field.as_ref().map_or(String::new(), |field| format!(", {field}"));
        writeln!(out, "{} {}{}", report.agent, harmless(version), harmless(&whence))?;
        write_report(out, report, verbose)?;
        writeln!(out)?;
    }
    writeln!(out, "{}", sentence(verdict))
}

fn write_report(out: &mut String, report: &Report, verbose: bool) -> fmt::Result {
    for tool in &report.tools {
        writeln!(out, "  {:<7}  {}  {}", word(tool.state), harmless(&tool.tool), harmless(&tool.why))?;
        for setting in &tool.settings {
            write_setting(out, setting)?;
        }
    }
    for bringer in &report.brings {
        let kind = kind(bringer.kind);
        let name = harmless(&bringer.name);
        let why = harmless(&bringer.why);
        writeln!(out, "  {:<7}  {kind} {name}  {why}", word(bringer.state))?;
        writeln!(out, "           {}", harmless(&bringer.origin.to_string()))?;
    }
    for remark in &report.remarks {
        match &remark.origin {
            Origin::Default => writeln!(out, "  remark   {}", harmless(&remark.text))?,
            origin => {
                writeln!(out, "  remark   {}: {}", harmless(&origin.to_string()), harmless(&remark.text))?
            }
        }
    }
    for malformed in &report.malformed {
        writeln!(out, "  broken   {}", harmless(&malformed.to_string()))?;
    }
    if verbose {
        for file in &report.read {
            writeln!(out, "  read     {}", harmless(file))?;
        }
    }
    Ok(())
}

fn write_setting(out: &mut String, setting: &Setting) -> fmt::Result {
    let (says, why) = match &setting.says {
        Says::Off => ("off", ""),
        Says::On => ("on", ""),
        Says::Overridden(why) => ("void", why.as_str()),
        Says::Ignored(why) => ("ignored", why.as_str()),
        Says::Unclear(why) => ("unclear", why.as_str()),
    };
    let what = harmless(&setting.what);
    let origin = setting.origin.to_string();
    write!(out, "           {says}: {}, {}, {what}", setting.layer, harmless(&origin))?;
    match why {
        "" => writeln!(out),
        why => writeln!(out, ": {}", harmless(why)),
    }
}

fn word(state: State) -> &'static str {
    match state {
        State::Off => "off",
        State::On => "ON",
        State::Unknown => "unknown",
    }
}

/// A kind's word, as the JSON has it.
fn kind(kind: closedbook_audit::config::Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn sentence(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Off => "every web tool is off, and nothing else brings the web",
        Verdict::On => "the web is not off: what is ON above reaches it",
        Verdict::Unknown => "the web may not be off: what is unknown above could reach it",
        Verdict::Malformed => "something could not be read, so this is no clean bill",
    }
}
