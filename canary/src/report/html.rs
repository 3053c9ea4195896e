//! The report as a page: one file, without anything from elsewhere, readable without JavaScript.
//!
//! What a task or a server wrote is in it, so every text is escaped, and the page's own policy lets nothing run or load but its
//! own style and its own script, both named by their hashes.

mod details;
mod escape;
mod head;
mod matrix;

use sha2::{Digest as _, Sha256};

use self::escape::esc;
use super::document::Report;
use super::judgement::{Judgement, Overall, ProbeVerdict};
use super::tally::{Tally, group};
use crate::engine::{Outcome, Stage};
use crate::probe::{Group, Level};
use crate::verdict::Verdict;

const TEMPLATE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// The page. The judgement is the report's own, or that of a reader who has waived something.
pub fn page(report: &Report, judgement: &Judgement) -> String {
    let view = View::of(report, judgement);
    let (title, word, say) = head::title(&view);
    let signed = match &report.signature {
        Some(signature) => format!(", signed with key <code>{}</code>", esc(&signature.key)),
        None => String::new(),
    };
    let (style_hash, script_hash) = (hash(STYLE), hash(SCRIPT));
    fill(&[
        ("style-hash", &style_hash),
        ("script-hash", &script_hash),
        ("title", &title),
        ("style", STYLE),
        ("script", SCRIPT),
        ("overall", judgement.overall.word()),
        ("word", &word),
        ("say", &say),
        ("subject", &head::subject(&view)),
        ("about", &head::about(&view)),
        ("why", &head::why(&view)),
        ("counts", &matrix::counts(&view)),
        ("chips", &matrix::chips(&view)),
        ("matrix", &matrix::table(&view)),
        ("details", &details::all(&view)),
        ("places", &details::places(&view)),
        ("digest", &esc(&report.digest).to_string()),
        ("signed", &signed),
    ])
}

/// Puts the parts in their places. In one pass: what is in a part is never a place.
fn fill(parts: &[(&str, &str)]) -> String {
    let mut page = String::with_capacity(1 << 20);
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((name, after)) = after.split_once("}}") else { break };
        if let Some((_, part)) = parts.iter().find(|(known, _)| *known == name) {
            page.push_str(part);
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// As a content security policy names what may run (W3C CSP3): SHA-256 in base64.
fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut base64 = String::new();
    for three in Sha256::digest(text).chunks(3) {
        let octet = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = (octet(0) << 16) | (octet(1) << 8) | octet(2);
        for place in 0..4_u32 {
            let digit = DIGITS.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'=');
            base64.push(if place as usize > three.len() { '=' } else { char::from(digit) });
        }
    }
    base64
}

/// The report, arranged as it is shown.
struct View<'a> {
    report: &'a Report,
    judgement: &'a Judgement,
    columns: Vec<Column<'a>>,
    rows: Vec<Row<'a>>,
}

/// A phase at a level.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Column<'a> {
    phase: &'a str,
    level: Level,
}

/// A technique.
struct Row<'a> {
    id: &'a str,
    /// What the page's own links call it: an id of the catalogue, or a number.
    anchor: String,
    group: Option<Group>,
    leak: &'a str,
    /// By column.
    cells: Vec<Option<Cell<'a>>>,
}

/// A technique in a phase at a level.
#[derive(Clone, Copy)]
struct Cell<'a> {
    stage: &'a Stage,
    outcome: &'a Outcome,
    judged: &'a ProbeVerdict,
}

impl<'a> View<'a> {
    fn of(report: &'a Report, judgement: &'a Judgement) -> Self {
        let stages = &report.evidence.stages;
        let mut columns: Vec<Column<'a>> = Vec::new();
        for stage in stages {
            let column = Column { phase: &stage.phase, level: stage.level };
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let outcomes =
            stages.iter().flat_map(|stage| stage.outcomes.iter().map(move |outcome| (stage, outcome)));
        let mut rows: Vec<Row<'a>> = Vec::new();
        // The judgement's probes are the evidence's outcomes, in the same order.
        for ((stage, outcome), judged) in outcomes.zip(&judgement.probes) {
            let here = |column: &Column<'a>| column.phase == stage.phase && column.level == stage.level;
            let Some(place) = columns.iter().position(here) else { continue };
            let number = rows.len();
            let found = rows.iter().position(|row| row.id == outcome.id);
            if found.is_none() {
                rows.push(Row::new(&outcome.id, number, columns.len()));
            }
            let row = rows.get_mut(found.unwrap_or(number));
            if let Some(cell) = row.and_then(|row| row.cells.get_mut(place)) {
                *cell = Some(Cell { stage, outcome, judged });
            }
        }
        // As the catalogue has them; what it does not have comes last.
        let order =
            |row: &Row<'_>| crate::catalogue().position(|probe| probe.id == row.id).unwrap_or(usize::MAX);
        rows.sort_by_cached_key(order);
        Self { report, judgement, columns, rows }
    }

    /// Groups with their rows, in the order of reports; those of no known group last.
    fn groups(&self) -> impl Iterator<Item = (Option<Group>, Vec<&Row<'a>>)> {
        let groups = Group::ALL.into_iter().map(Some).chain([None]);
        groups
            .map(|group| (group, self.rows.iter().filter(|row| row.group == group).collect::<Vec<_>>()))
            .filter(|(_, rows)| !rows.is_empty())
    }
}

impl<'a> Row<'a> {
    fn new(id: &'a str, number: usize, columns: usize) -> Self {
        let known = crate::find(id);
        Self {
            id,
            anchor: known.map_or_else(|| format!("unknown-{number}"), |probe| probe.id.to_owned()),
            group: group(id),
            leak: known.map_or("a technique that this program does not know", |probe| probe.leak),
            cells: vec![None; columns],
        }
    }

    fn tally(&self) -> Tally {
        Tally::of(self.cells.iter().flatten().map(|cell| cell.judged))
    }

    /// What a filter finds it by: everything that is said of it.
    fn text(&self) -> String {
        let mut text = format!("{} {}", self.id, self.leak);
        for cell in self.cells.iter().flatten() {
            for part in [cell.judged.because.as_str()].into_iter().chain(
                cell.outcome.tries.iter().flat_map(|attempt| [attempt.what.as_str(), attempt.to.as_str()]),
            ) {
                // The same in each column, most of the time.
                if !text.contains(part) {
                    text.push(' ');
                    text.push_str(part);
                }
            }
        }
        text.to_lowercase()
    }

    fn ends(&self) -> String {
        let tally = self.tally();
        let ends = Verdict::ALL.into_iter().filter(|verdict| tally.count(*verdict) > 0).map(Verdict::word);
        ends.collect::<Vec<_>>().join(" ")
    }
}

/// Beside the word, for whoever does not see colours.
fn glyph(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allowed | Verdict::Blocked | Verdict::Rewritten => "\u{2713}",
        Verdict::BlockedSlow => "\u{29d6}",
        Verdict::NotApplicable => "\u{2013}",
        Verdict::Inconclusive => "?",
        Verdict::Refused => "\u{2717}",
        Verdict::Suspect => "!",
        Verdict::Leak => "\u{2717}",
    }
}

/// What the verdict means, for people.
fn say(overall: Overall) -> &'static str {
    match overall {
        Overall::Pass => "Every permitted host answered, and nothing else got anywhere.",
        Overall::Fail => "There is a way out, one can\u{2019}t be excluded, or a permitted host was refused.",
        Overall::Inconclusive => "It can\u{2019}t be told, which is not a pass.",
    }
}
