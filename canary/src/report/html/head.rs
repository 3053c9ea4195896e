//! The verdict, what it is about, and why it is not a pass.

use std::fmt::Write as _;

use super::escape::esc;
use super::{View, glyph};
use crate::report::table;
use crate::report::tally::{findings, remedy};

/// Title, word and sentence.
pub(super) fn title(view: &View<'_>) -> (String, String, String) {
    let overall = view.judgement.overall;
    let word = overall.word();
    let word = word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default();
    let subject = table::subject(&view.report.evidence);
    let title = format!("{word}: canary report, {}", esc(&subject));
    (title, word, super::say(overall).to_owned())
}

/// One line.
pub(super) fn subject(view: &View<'_>) -> String {
    let evidence = &view.report.evidence;
    format!("{}. {}", esc(&table::subject(evidence)), esc(&evidence.made))
}

/// Everything that the verdict counts for, and for nothing else.
pub(super) fn about(view: &View<'_>) -> String {
    let evidence = &view.report.evidence;
    let subject = &evidence.subject;
    let none = "not told".to_owned();
    let kernel = evidence.stages.first().map(|stage| stage.surroundings.kernel.clone());
    let witness = match &evidence.witness {
        None => "none: what leaves without an answer was not seen".to_owned(),
        Some(record) => match record.believable() {
            Ok(()) => format!("listened to the end; {} arrivals of this run", record.arrivals.len()),
            Err(why) => why.to_owned(),
        },
    };
    let baseline = match &evidence.baseline {
        None => "none".to_owned(),
        Some(baseline) if baseline.is_empty() => "empty".to_owned(),
        Some(_) => "every technique was tried where nothing is in its way".to_owned(),
    };
    let mut text = String::new();
    for (what, value, long) in [
        ("Agent", subject.agent.clone(), false),
        ("Provider", subject.provider.clone(), false),
        ("Login", subject.auth.clone(), false),
        ("Topology", subject.topology.clone(), false),
        ("Phases", Some(subject.phases.join(", ")), false),
        ("Kernel", kernel, false),
        ("Agent table", subject.table.map(|version| format!("version {version}")), false),
        ("Canary", Some(subject.canary.clone()), false),
        ("Sidecar", subject.sidecar.clone(), false),
        ("Run", Some(evidence.run.clone()), false),
        ("Began", Some(evidence.made.clone()), false),
        ("Ended", evidence.ended.clone(), false),
        ("Policy (SHA-256)", subject.policy.clone(), true),
        ("Image", subject.image.clone(), true),
        ("Witness", Some(witness), true),
        ("Baseline", Some(baseline), true),
    ] {
        let class = if long { " class=\"long\"" } else { "" };
        let value = value.filter(|value| !value.is_empty()).unwrap_or_else(|| none.clone());
        // Writing to a String can't fail.
        let _ = writeln!(text, "<div{class}><dt>{what}</dt><dd>{}</dd></div>", esc(&value));
    }
    text
}

/// What keeps it from passing, what must be known, and what no filter stops.
pub(super) fn why(view: &View<'_>) -> String {
    let mut text = String::new();
    let judgement = view.judgement;
    let found = findings(&judgement.probes);
    if !found.is_empty() {
        text.push_str(
            "<section aria-labelledby=\"h-why\">\n<h2 id=\"h-why\">What failed, the worst first</h2>\n",
        );
        for finding in &found {
            let probe = finding.probe;
            let verdict = probe.verdict;
            let anchor =
                view.rows.iter().find(|row| row.id == probe.id).map_or("", |row| row.anchor.as_str());
            let leak = crate::find(&probe.id).map_or("", |probe| probe.leak);
            let _ = writeln!(
                text,
                "<div class=\"note bad finding\"><p><span class=\"v {word}\"><i aria-hidden=\"true\">{glyph}</i>{word}</span> \
                 <a class=\"mono\" href=\"#p-{anchor}\">{id}</a> <span class=\"where\">in {places}</span></p>\
                 <p>{because}</p><p class=\"where\">{leak}</p><p class=\"where\">Remedy: {remedy}</p></div>",
                word = verdict.word(),
                glyph = glyph(verdict),
                id = esc(&probe.id),
                places = esc(&finding.places.join(", ")),
                because = esc(&probe.because),
                leak = esc(leak),
                remedy = esc(remedy(verdict)),
            );
        }
        text.push_str("</section>\n");
    }
    let told: Vec<String> = judgement.probes.iter().map(ToString::to_string).collect();
    let lacks = judgement.reasons.iter().filter(|reason| !told.contains(reason));
    let facts = view.report.evidence.facts.iter().map(|fact| {
        let phase = fact.phase.as_ref().map_or_else(String::new, |phase| format!(" ({phase})"));
        format!("{}{phase}: {}: {}", fact.id, fact.about, fact.text)
    });
    list(&mut text, "lacks", "It says too little", "bad", lacks.cloned());
    list(&mut text, "warnings", "Must be known", "warn", judgement.warnings.iter().cloned());
    list(&mut text, "facts", "What no network filter stops", "", facts);
    text
}

fn list(text: &mut String, id: &str, head: &str, class: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "<section aria-labelledby=\"h-{id}\">\n<h2 id=\"h-{id}\">{head}</h2>\n<div class=\"note {class}\"><ul>"
    );
    for line in lines {
        let _ = writeln!(text, "<li>{}</li>", esc(&line));
    }
    text.push_str("</ul></div>\n</section>\n");
}
