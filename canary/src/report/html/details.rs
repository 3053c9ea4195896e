//! Each technique, try by try.

use std::fmt::Write as _;

use super::escape::esc;
use super::{Cell, Column, Row, View, glyph, matrix};
use crate::report::controls::{Controls, Grounds, Heard};
use crate::trial::{Try, Want};
use crate::verdict::{Control, Verdict};

/// All techniques, by group.
pub(super) fn all(view: &View<'_>) -> String {
    let controls = Controls::of(&view.report.evidence);
    let mut text = String::new();
    for (group, rows) in view.groups() {
        let _ = writeln!(text, "<div class=\"group\">\n<h3>{}</h3>", matrix::name(group));
        for row in rows {
            technique(&mut text, view, &controls, row);
        }
        text.push_str("</div>\n");
    }
    text
}

fn technique(text: &mut String, view: &View<'_>, controls: &Controls<'_>, row: &Row<'_>) {
    let tally = row.tally();
    let bad = tally.worst().is_some_and(|worst| !worst.is_good());
    let ends = Verdict::ALL.into_iter().rev().filter(|verdict| tally.count(*verdict) > 0);
    let ends: String = ends.map(|verdict| badge(verdict, tally.count(verdict))).collect();
    let _ = writeln!(
        text,
        "<details id=\"p-{}\" data-text=\"{}\" data-ends=\"{}\"{}><summary><span class=\"mono\">{}</span>\
         <span class=\"gist\">{}</span><span class=\"ends\">{ends}</span></summary>\n<div class=\"body\">",
        row.anchor,
        esc(&row.text()),
        row.ends(),
        if bad { " open" } else { "" },
        esc(row.id),
        esc(row.leak)
    );
    if let Some(probe) = crate::find(row.id) {
        let _ = writeln!(
            text,
            "<dl><dt>What leaks</dt><dd>{}</dd><dt>How</dt><dd>{}</dd><dt>Expected</dt><dd>{}</dd><dt>Source</dt><dd>{}</dd></dl>",
            esc(probe.leak),
            esc(probe.how),
            esc(probe.expected),
            probe.sources.iter().map(|source| linked(source)).collect::<Vec<_>>().join("; ")
        );
    }
    for (place, (cell, column)) in row.cells.iter().zip(&view.columns).enumerate() {
        if let Some(cell) = cell {
            stage(text, controls, row, (place, column), cell);
        }
    }
    text.push_str("</div>\n</details>\n");
}

fn stage(
    text: &mut String,
    controls: &Controls<'_>,
    row: &Row<'_>,
    (place, column): (usize, &Column<'_>),
    cell: &Cell<'_>,
) {
    let Cell { stage, outcome, judged } = cell;
    let _ = writeln!(
        text,
        "<section id=\"d-{}-{place}\"><h4>{} as {} {}</h4>\n<p class=\"because\">{}{}</p>",
        row.anchor,
        esc(column.phase),
        column.level,
        badge(judged.verdict, 1),
        esc(&judged.because),
        judged.waived.as_ref().map_or_else(String::new, |why| format!(" <b>Waived:</b> {}", esc(why)))
    );
    if let Some(broken) = &outcome.broken {
        let _ = writeln!(text, "<p class=\"because\">Not whole: {}</p>", esc(broken));
    }
    if !outcome.tries.is_empty() {
        text.push_str(
            "<table class=\"tries\"><thead><tr><th scope=\"col\">Tried</th><th scope=\"col\">Expected</th>\
             <th scope=\"col\">Seen</th><th scope=\"col\">Control</th><th scope=\"col\">Witness</th>\
             <th scope=\"col\">Verdict, and why</th><th scope=\"col\" class=\"num ms\">ms</th></tr></thead><tbody>\n",
        );
        for (attempt, verdict) in outcome.tries.iter().zip(&judged.tries) {
            let grounds = controls.grounds(stage, outcome, attempt);
            let (control, witness) = shown(&grounds);
            let _ = writeln!(
                text,
                "<tr><td data-l=\"Tried\">{}<span class=\"to mono\">{}</span></td><td data-l=\"Expected\">{}</td>\
                 <td data-l=\"Seen\">{}</td><td data-l=\"Control\">{}</td><td data-l=\"Witness\">{}</td>\
                 <td data-l=\"Verdict, and why\">{}<span class=\"ground\">{}</span></td>\
                 <td data-l=\"ms\" class=\"num ms\">{}</td></tr>",
                esc(&attempt.what),
                esc(&attempt.to),
                esc(&expected(attempt)),
                esc(&attempt.seen.to_string()),
                esc(&control),
                esc(&witness),
                badge(verdict.verdict, 1),
                esc(&verdict.because),
                attempt.ms
            );
        }
        text.push_str("</tbody></table>\n");
    }
    text.push_str("</section>\n");
}

fn shown(grounds: &Grounds<'_>) -> (String, String) {
    let control = match &grounds.control {
        Control::Passed(by) => format!("works: {by}"),
        Control::Failed(why) => format!("does not work: {why}"),
        Control::Absent => "none".to_owned(),
    };
    let witness = match &grounds.witness {
        Heard::Nobody(why) => (*why).to_owned(),
        Heard::Arrived(arrivals, believable) => {
            let saw: Vec<String> = arrivals.iter().map(|arrival| arrival.shown()).collect();
            match (saw.as_slice(), believable) {
                ([], Ok(())) => "saw nothing".to_owned(),
                ([], Err(why)) => (*why).to_owned(),
                (saw, _) => format!("saw {}", saw.join(", ")),
            }
        }
    };
    (control, witness)
}

fn expected(attempt: &Try) -> String {
    match &attempt.want {
        Want::Reached { name } => format!("{name} answers"),
        Want::Stopped => "gets nowhere".to_owned(),
        Want::Rewritten { name } => format!("gets nowhere, or to {name} itself"),
        Want::Absent => "is not there".to_owned(),
        Want::Unheard => "may be answered; what is hidden in it gets nowhere".to_owned(),
    }
}

fn badge(verdict: Verdict, number: usize) -> String {
    let word = verdict.word();
    let times = if number > 1 { format!(" \u{d7}{number}") } else { String::new() };
    format!("<span class=\"v {word}\"><i aria-hidden=\"true\">{}</i>{word}{times}</span>", glyph(verdict))
}

/// Sources are the catalogue's own; one that is an address can be followed.
fn linked(source: &str) -> String {
    if source.starts_with("https://") && !source.contains(' ') {
        return format!("<a rel=\"noreferrer noopener\" href=\"{0}\">{0}</a>", esc(source));
    }
    esc(source).to_string()
}

/// What each stage found where it ran.
pub(super) fn places(view: &View<'_>) -> String {
    let mut text = String::from(
        "<table><thead><tr><th scope=\"col\">Phase</th><th scope=\"col\">As</th><th scope=\"col\">uid</th>\
         <th scope=\"col\">Capabilities</th><th scope=\"col\">Could have</th><th scope=\"col\">Restricted by</th>\
         <th scope=\"col\">Devices</th><th scope=\"col\">IPv6</th><th scope=\"col\">Name servers</th>\
         <th scope=\"col\">Kernel</th></tr></thead><tbody>\n",
    );
    for stage in &view.report.evidence.stages {
        let around = &stage.surroundings;
        let mut limits = Vec::new();
        if around.no_new_privs {
            limits.push("no new privileges");
        }
        if around.no_root {
            limits.push("no uid 0");
        }
        if around.seccomp > 0 {
            limits.push("seccomp");
        }
        let ipv6 = match (around.ipv6_kernel, around.ipv6) {
            (false, _) => "not in the kernel",
            (true, false) => "no address, no route",
            (true, true) => "there",
        };
        let servers: Vec<String> = around.nameservers.iter().map(ToString::to_string).collect();
        let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { text };
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{ipv6}</td><td>{}</td><td>{}</td></tr>",
            esc(&stage.phase),
            stage.level,
            around.uid,
            esc(&or_none(short(&around.capabilities))),
            esc(&or_none(short(&around.bounding))),
            esc(&or_none(limits.join(", "))),
            esc(&around.devices.join(", ")),
            esc(&servers.join(", ")),
            esc(&around.kernel)
        );
    }
    text.push_str("</tbody></table>");
    text
}

/// Without what all of their names begin with.
fn short(capabilities: &[String]) -> String {
    let names = capabilities.iter().map(|name| name.strip_prefix("CAP_").unwrap_or(name).to_lowercase());
    names.collect::<Vec<_>>().join(" ")
}
