//! Techniques by phase and privilege: counted, and one by one.

use std::fmt::Write as _;

use super::escape::esc;
use super::{Cell, Row, View, glyph};
use crate::probe::{Group, Moment};
use crate::report::tally::Tally;
use crate::verdict::Verdict;

/// Groups by phase and level.
pub(super) fn counts(view: &View<'_>) -> String {
    let mut text = String::from(
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"h-counts\" tabindex=\"0\">\n<table class=\"counts\">\n",
    );
    head(&mut text, view, "Group");
    text.push_str("<tbody>\n");
    for (group, rows) in view.groups() {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", name(group));
        for place in 0..view.columns.len() {
            let cells = rows.iter().filter_map(|row| row.cells.get(place)).flatten();
            let _ = write!(text, "<td>{}</td>", tally(&Tally::of(cells.map(|cell| cell.judged))));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n<tfoot><tr><th scope=\"row\">All</th>");
    for place in 0..view.columns.len() {
        let cells = view.rows.iter().filter_map(|row| row.cells.get(place)).flatten();
        let _ = write!(text, "<td>{}</td>", tally(&Tally::of(cells.map(|cell| cell.judged))));
    }
    text.push_str("</tr></tfoot>\n</table>\n</div>");
    text
}

/// One row for each technique.
pub(super) fn table(view: &View<'_>) -> String {
    let mut text = String::from("<table class=\"matrix\">\n");
    head(&mut text, view, "Technique");
    for (group, rows) in view.groups() {
        let _ = writeln!(
            text,
            "<tbody>\n<tr><th scope=\"rowgroup\" colspan=\"{}\">{}</th></tr>",
            view.columns.len() + 1,
            name(group)
        );
        for row in rows {
            line(&mut text, row);
        }
        text.push_str("</tbody>\n");
    }
    text.push_str("</table>");
    text
}

/// What can be filtered for: the verdicts that there are.
pub(super) fn chips(view: &View<'_>) -> String {
    let all = Tally::of(view.judgement.probes.iter());
    let there = Verdict::ALL.into_iter().rev().filter(|verdict| all.count(*verdict) > 0);
    let chip = |verdict: Verdict| {
        let word = verdict.word();
        format!("<button type=\"button\" value=\"{word}\" aria-pressed=\"false\">{word}</button>")
    };
    there.map(chip).collect()
}

fn head(text: &mut String, view: &View<'_>, first: &str) {
    let _ = write!(text, "<thead>\n<tr><th rowspan=\"2\" scope=\"col\">{first}</th>");
    let mut phases: Vec<(&str, usize)> = Vec::new();
    for column in &view.columns {
        match phases.last_mut() {
            Some((phase, levels)) if *phase == column.phase => *levels += 1,
            _ => phases.push((column.phase, 1)),
        }
    }
    for (phase, levels) in phases {
        let _ = write!(text, "<th scope=\"colgroup\" colspan=\"{levels}\">{}</th>", esc(phase));
    }
    text.push_str("</tr>\n<tr>");
    for column in &view.columns {
        let _ = write!(text, "<th scope=\"col\">as {}</th>", column.level);
    }
    text.push_str("</tr>\n</thead>\n");
}

fn line(text: &mut String, row: &Row<'_>) {
    let moment = match row.cells.iter().flatten().next().map(|cell| cell.stage.moment) {
        Some(Moment::Switch) => " <span class=\"switch\">across the switch</span>",
        Some(Moment::Crash) => " <span class=\"switch\">after a crash</span>",
        Some(Moment::Phase) | None => "",
    };
    let _ = write!(
        text,
        "<tr data-text=\"{}\" data-ends=\"{}\"><th scope=\"row\"><a class=\"mono\" href=\"#p-{}\">{}</a>{moment}\
         <span class=\"gist\">{}</span></th>",
        esc(&row.text()),
        row.ends(),
        row.anchor,
        esc(row.id),
        esc(row.leak)
    );
    for (place, cell) in row.cells.iter().enumerate() {
        let _ = match cell {
            None => write!(text, "<td></td>"),
            Some(cell) => write!(text, "<td>{}</td>", link(row, place, cell)),
        };
    }
    text.push_str("</tr>\n");
}

fn link(row: &Row<'_>, place: usize, cell: &Cell<'_>) -> String {
    let verdict = cell.judged.verdict;
    let waived = if cell.judged.waived.is_some() { " <span class=\"waived\">waived</span>" } else { "" };
    format!(
        "<a class=\"v {word}\" href=\"#d-{}-{place}\" title=\"{}\"><i aria-hidden=\"true\">{}</i>{word}</a>{waived}",
        row.anchor,
        esc(&cell.judged.because),
        glyph(verdict),
        word = verdict.word(),
    )
}

fn tally(tally: &Tally) -> String {
    let parts = [
        (tally.good(), Verdict::Blocked, "good"),
        (tally.count(Verdict::BlockedSlow), Verdict::BlockedSlow, "slow"),
        (tally.count(Verdict::NotApplicable), Verdict::NotApplicable, "n/a"),
        (tally.count(Verdict::Inconclusive), Verdict::Inconclusive, "unknown"),
        (tally.count(Verdict::Refused), Verdict::Refused, "refused"),
        (tally.count(Verdict::Suspect), Verdict::Suspect, "suspect"),
        (tally.count(Verdict::Leak), Verdict::Leak, "leak"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, verdict, word)| format!("<span class=\"v {}\">{number} {word}</span>", verdict.word()))
        .collect();
    parts.join("")
}

/// A group, in words.
pub(super) fn name(group: Option<Group>) -> &'static str {
    match group {
        Some(Group::Allow) => "Permitted hosts",
        Some(Group::Tls) => "TLS names",
        Some(Group::Http) => "Plain HTTP",
        Some(Group::Proto) => "Other protocols over TCP",
        Some(Group::Dns) => "DNS",
        Some(Group::Udp) => "UDP",
        Some(Group::L4) => "ICMP, raw sockets, transport",
        Some(Group::Ip6) => "IPv6",
        Some(Group::Priv) => "Privileges and namespaces",
        Some(Group::Life) => "Starts, switches, ends",
        Some(Group::Local) => "What is near",
        Some(Group::Client) => "Ordinary clients",
        None => "Unknown to this program",
    }
}
