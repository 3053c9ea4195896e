//! What running a file does, when the transcript shows what was written into it.

use super::super::code;
use super::super::finding::{Level, Raw};
use super::super::json;
use super::files::{Known, Language, base, language};
use super::interpreters::opaque;
use super::{Output, Shell, UNKNOWN};

/// Runs a file, if the transcript shows what is in it.
pub(super) fn file(shell: &mut Shell<'_>, path: &str, as_what: Option<Language>) {
    if let Some(output) = shell.world.files.unreadable(path) {
        opaque(shell, path, &[], &output);
        return;
    }
    let Some(found) = examine(shell, path, as_what) else { return };
    if let Some(file) = shell.world.files.get_mut(path) {
        file.ran = true;
    }
    for mut raw in found {
        raw.via.insert(0, base(path).replace(UNKNOWN, ""));
        shell.report(raw);
    }
    imports(shell, path);
}

/// What running a file does.
pub(super) fn examine(shell: &mut Shell<'_>, path: &str, as_what: Option<Language>) -> Option<Vec<Raw>> {
    let file = shell.world.files.get_mut(path)?;
    let language = as_what.unwrap_or_else(|| language(path, file.content()));
    if let Some(known) = file.known.as_ref().filter(|known| known.of == (file.content().len(), language)) {
        return Some(known.found.clone());
    }
    let mut content = file.content().to_owned();
    // A file that runs itself finds that nothing is known of it yet.
    file.known = Some(Known { of: (content.len(), language), found: Vec::new() });
    let length = content.len();
    if let Some(cells) = base(path).ends_with(".ipynb").then(|| cells(&content)).flatten() {
        content = cells;
    }
    let outside = std::mem::take(&mut shell.found);
    let via = std::mem::take(&mut shell.via);
    shell.within("", length, |shell| match language {
        Language::Code => {
            code::scan(shell, &content);
        }
        _ => {
            shell.run(&content, Output::none());
        }
    });
    shell.via = via;
    let found = std::mem::replace(&mut shell.found, outside);
    if let Some(file) = shell.world.files.get_mut(path) {
        file.known = Some(Known { of: (length, language), found: found.clone() });
    }
    Some(found)
}

/// The source in a notebook's cells.
fn cells(notebook: &str) -> Option<String> {
    let notebook = json::parse(notebook).ok()?;
    let mut source = String::new();
    for cell in notebook.get("cells")?.items().iter().filter(|cell| cell.text("cell_type") == Some("code")) {
        let lines = cell.get("source")?;
        source.extend(lines.as_text());
        source.extend(lines.items().iter().filter_map(json::Json::as_text));
        source.push('\n');
    }
    Some(source)
}

/// Other files of the agent that this one brings in, when they hold something.
fn imports(shell: &mut Shell<'_>, path: &str) {
    let Some(content) = shell.world.files.content(path) else { return };
    let brought: Vec<(String, Vec<Raw>)> = shell
        .world
        .files
        .names()
        .filter(|(name, file)| {
            !file.ran
                && name.as_str() != base(path)
                && file
                    .known
                    .as_ref()
                    .is_some_and(|known| known.found.iter().any(|raw| raw.level == Level::Violation))
        })
        .filter(|(name, _)| {
            let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
            stem.len() > 1 && content.contains(stem)
        })
        .map(|(name, file)| (name.clone(), file.known.clone().map(|known| known.found).unwrap_or_default()))
        .take(50)
        .collect();
    for (name, found) in brought {
        if let Some(file) = shell.world.files.get_mut(&name) {
            file.ran = true;
        }
        for mut raw in found {
            raw.via.splice(0..0, [base(path).to_owned(), name.clone()]);
            shell.report(raw);
        }
    }
}
