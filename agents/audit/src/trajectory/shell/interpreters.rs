//! Programs that run other people's text: shells, language interpreters, build tools.

mod builds;
mod languages;

use super::super::finding::{Kind, Raw};
use super::commands::line;
use super::examine::file;
use super::files::Language;
use super::{Output, Shell};
use builds::{package_scripts, run_all, run_named};

/// `None` if the program is no interpreter.
pub(super) fn run(shell: &mut Shell<'_>, name: &str, arguments: &[String], input: &Output) -> Option<Output> {
    match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "mksh" | "rbash" | "fish" | "csh" | "tcsh" => {
            Some(a_shell(shell, name, arguments, input))
        }
        "." | "source" => {
            if let Some(path) = arguments.first() {
                file(shell, path, Some(Language::Shell));
            }
            Some(Output::Unknown)
        }
        "at" | "batch" | "crontab" => {
            if let Output::Text(text) = input {
                shell.run_within(name, text, Output::none());
            }
            for path in arguments {
                file(shell, path, Some(Language::Shell));
            }
            Some(Output::Unknown)
        }
        "tmux" | "screen" => {
            let typed: Vec<String> = arguments
                .iter()
                .filter(|word| {
                    !matches!(
                        word.as_str(),
                        "Enter"
                            | "C-m"
                            | "Return"
                            | "send-keys"
                            | "send"
                            | "new-session"
                            | "new"
                            | "neww"
                            | "new-window"
                    )
                })
                .skip_while(|word| word.starts_with('-') && !word.contains(' '))
                .cloned()
                .collect();
            shell.run_within(name, &typed.join("\n"), Output::none());
            shell.run_within(name, &typed.join(" "), Output::none());
            Some(Output::Unknown)
        }
        "R" if arguments.first().is_some_and(|word| word == "CMD") => {
            if arguments.get(1).is_some_and(|word| word == "BATCH") {
                for path in arguments.iter().skip(2) {
                    file(shell, path, Some(Language::Code));
                }
            }
            Some(Output::Unknown)
        }
        "make" | "gmake" | "just" | "ninja" | "rake" | "snakemake" | "tox" | "nox" | "pytest" | "py.test" => {
            run_all(shell, name);
            shell.addresses(name, arguments);
            Some(Output::Unknown)
        }
        "npm" | "pnpm" | "yarn" | "bun"
            if arguments.first().is_some_and(|verb| {
                matches!(verb.as_str(), "run" | "test" | "start" | "run-script" | "t")
            }) =>
        {
            package_scripts(shell);
            shell.addresses(name, arguments);
            Some(Output::Unknown)
        }
        "go" if arguments.first().is_some_and(|verb| matches!(verb.as_str(), "run" | "build" | "test")) => {
            Some(run_named(shell, name, arguments))
        }
        "cargo"
            if arguments
                .first()
                .is_some_and(|verb| matches!(verb.as_str(), "run" | "build" | "test" | "check")) =>
        {
            run_all(shell, "rs");
            Some(Output::Unknown)
        }
        "gcc" | "cc" | "g++" | "c++" | "clang" | "clang++" | "rustc" | "javac" | "java" | "tsc"
        | "ts-node" | "tsx" | "dotnet" | "swift" | "ghc" | "runghc" | "nim" | "zig" | "kotlinc" | "scala"
        | "sas" | "quarto" | "jupyter" | "papermill" => Some(run_named(shell, name, arguments)),
        _ => languages::interpreter(name).map(|_| languages::a_language(shell, name, arguments, input)),
    }
}

fn a_shell(shell: &mut Shell<'_>, name: &str, arguments: &[String], input: &Output) -> Output {
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        let option = word.strip_prefix(['-', '+']);
        match option {
            Some("o" | "O" | "-rcfile" | "-init-file") => rest = after.get(1..).unwrap_or_default(),
            Some("-") => {
                rest = after;
                break;
            }
            Some(letters) if !letters.starts_with('-') && letters.contains('c') => {
                let Some((script, words)) = after.split_first() else { return Output::Unknown };
                // `bash -c -- SCRIPT`, `sh -c -e SCRIPT`
                let script = if script.starts_with('-') { words.first().unwrap_or(script) } else { script };
                let given = after.iter().skip_while(|word| *word != script).skip(2);
                let given: Vec<&str> = given.map(String::as_str).collect();
                shell.parameters(&given);
                return shell.run_within(&format!("{name} -c"), script, input.clone());
            }
            Some("s") => {
                rest = &[];
            }
            Some(_) => rest = after,
            None => break,
        }
    }
    match rest.first().map(String::as_str) {
        Some("-" | "/dev/stdin") | None => match input {
            Output::Text(text) => shell.run_within(name, text, Output::none()),
            other => opaque(shell, name, arguments, other),
        },
        Some(path) => {
            file(shell, path, Some(Language::Shell));
            shell.addresses(name, rest);
            Output::Unknown
        }
    }
}

/// Something is run that can't be read.
pub(super) fn opaque(shell: &mut Shell<'_>, name: &str, arguments: &[String], input: &Output) -> Output {
    let what = line(name, arguments);
    match input {
        Output::Decoded => {
            shell.report(
                Raw::new(Kind::Opaque, format!("decoded or altered text is run by `{name}`"), &what).likely(),
            );
        }
        _ => shell.report(
            Raw::new(Kind::Opaque, format!("a program's output is run by `{name}`"), &what).likely().note(),
        ),
    }
    Output::Unknown
}
