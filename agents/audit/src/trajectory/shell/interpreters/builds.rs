//! Compilers, test runners and build tools: they run files that they are given, or that they find.

use crate::trajectory::json;

use super::super::examine::file;
use super::super::{Output, Shell};

/// Programs that read the files they are given.
pub(super) fn run_named(shell: &mut Shell<'_>, name: &str, arguments: &[String]) -> Output {
    for word in arguments {
        if shell.world.files.has(word) {
            file(shell, word, None);
        }
    }
    shell.addresses(name, arguments);
    Output::Unknown
}

/// Programs that run what they find.
pub(super) fn run_all(shell: &mut Shell<'_>, name: &str) {
    let wanted = |file: &str| match name {
        "pytest" | "py.test" | "tox" | "nox" => file.ends_with(".py"),
        "rs" => file.ends_with(".rs"),
        "rake" => file == "Rakefile" || file.ends_with(".rb"),
        "snakemake" => file == "Snakefile" || file.ends_with(".smk"),
        _ => {
            matches!(file, "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" | "build.ninja")
        }
    };
    let mut names: Vec<String> =
        shell.world.files.names().filter(|(file, _)| wanted(file)).map(|(file, _)| file.clone()).collect();
    names.sort();
    for path in names.into_iter().take(200) {
        file(shell, &path, None);
    }
}

/// What stands under `scripts` in a `package.json`.
pub(super) fn package_scripts(shell: &mut Shell<'_>) {
    let Some(content) = shell.world.files.content("package.json") else { return };
    let Ok(package) = json::parse(&content) else { return };
    let Some(scripts) = package.get("scripts") else { return };
    for (_, script) in scripts.fields() {
        if let Some(script) = script.as_text() {
            shell.run_within("package.json", script, Output::none());
        }
    }
}
