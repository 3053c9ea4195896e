//! Interpreters of languages: which of their words are source, which a file of it, which a module.

use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::{code, hosts};

use super::super::commands::{joined, line};
use super::super::examine::file;
use super::super::files::Language;
use super::super::{Output, Shell, packages};
use super::{opaque, run_all};

pub(super) fn interpreter(name: &str) -> Option<()> {
    const NAMES: &[&str] = &[
        "python",
        "pypy",
        "ipython",
        "node",
        "nodejs",
        "deno",
        "bun",
        "perl",
        "ruby",
        "php",
        "Rscript",
        "R",
        "r",
        "lua",
        "luajit",
        "julia",
        "tclsh",
        "wish",
        "osascript",
        "pwsh",
        "powershell",
        "irb",
    ];
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let known = NAMES.contains(&name)
        || (!plain.is_empty() && NAMES.contains(&plain) && plain != "r" && plain != "R");
    known.then_some(())
}

pub(super) fn a_language(shell: &mut Shell<'_>, name: &str, arguments: &[String], input: &Output) -> Output {
    let mut code = String::new();
    let mut rest = arguments;
    let mut evaluated = false;
    if name == "deno" || name == "bun" {
        if let Some(judged) = packages::judge(name, arguments) {
            for raw in judged {
                shell.report(raw);
            }
            return Output::Unknown;
        }
        if rest.first().is_some_and(|verb| matches!(verb.as_str(), "run" | "eval" | "test" | "repl")) {
            evaluated = rest.first().is_some_and(|verb| verb == "eval");
            rest = rest.get(1..).unwrap_or_default();
        }
        if evaluated {
            code = rest.join("\n");
            rest = &[];
        }
    }
    while let Some((word, after)) = rest.split_first() {
        if !word.starts_with('-') || word == "-" {
            break;
        }
        rest = after;
        if word == "-m" && !matches!(name, "node" | "nodejs") {
            return a_module(shell, after);
        }
        if let Some(module) =
            word.strip_prefix("-m").filter(|module| !module.is_empty() && name.starts_with("python"))
        {
            let mut words = vec![module.to_owned()];
            words.extend_from_slice(after);
            return a_module(shell, &words);
        }
        // `-MLWP::Simple`, `-rnet/http`: a part of the program.
        if let Some(module) =
            word.strip_prefix("-M").or_else(|| word.strip_prefix("-r")).filter(|module| !module.is_empty())
        {
            code.push_str(&format!("use {module}; require '{module}'\n"));
            continue;
        }
        let python = name.contains("python") || name.contains("pypy");
        let takes = match word.as_str() {
            "--eval" | "--print" | "--command" | "-Command" | "-EncodedCommand" | "--import"
            | "--require" | "-r" => true,
            "-f" | "--file" => {
                if let Some((path, after)) = rest.split_first() {
                    file(shell, path, Some(Language::Code));
                    rest = after;
                    evaluated = true;
                }
                false
            }
            "-W" | "-X" => {
                rest = rest.get(1..).unwrap_or_default();
                false
            }
            word if word.starts_with("--file=") || word.starts_with("--eval=") => {
                let value = word.split_once('=').map(|(_, value)| value).unwrap_or_default();
                if word.starts_with("--file") {
                    file(shell, value, Some(Language::Code))
                } else {
                    code.push_str(value)
                }
                evaluated = true;
                false
            }
            word if word.starts_with("--") => false,
            word if python => word.ends_with('c'),
            word => word.ends_with(['e', 'E', 'p', 'c']),
        };
        // `python3 -cCODE`, `perl -e'CODE'`
        let attached = if python { word.strip_prefix("-c") } else { word.strip_prefix("-e") };
        if let Some(text) = attached.filter(|text| text.len() > 1) {
            code.push_str(text);
            code.push('\n');
            evaluated = true;
        } else if takes {
            if let Some((text, after)) = rest.split_first() {
                code.push_str(text);
                code.push('\n');
                rest = after;
                evaluated = true;
            }
            if python {
                break;
            }
        }
    }
    if evaluated {
        let output = code::run(
            shell,
            &format!("{name} -e").replace("python -e", "python -c").replace("python3 -e", "python3 -c"),
            &code,
        );
        shell.addresses(name, rest);
        return output;
    }
    match rest.first().map(String::as_str) {
        Some("-" | "/dev/stdin") | None => match input {
            Output::Text(text) => {
                code.push_str(text);
                code::run(shell, name, &code)
            }
            other if arguments.is_empty() || rest.first().is_some_and(|word| word == "-") => {
                opaque(shell, name, arguments, other)
            }
            _ => Output::Unknown,
        },
        Some(path) => {
            file(shell, path, Some(Language::Code));
            // `R --vanilla < file`
            if let (Output::Text(text), "R") = (input, name) {
                code::run(shell, name, text);
            }
            shell.addresses(name, rest);
            Output::Unknown
        }
    }
}

/// `python -m MODULE`
fn a_module(shell: &mut Shell<'_>, words: &[String]) -> Output {
    let Some((module, arguments)) = words.split_first() else { return Output::Unknown };
    match module.as_str() {
        "pip" | "pipx" | "uv" | "conda" | "poetry" | "pipenv" | "pdm" => {
            for raw in packages::judge(module, arguments).unwrap_or_default() {
                shell.report(raw);
            }
        }
        "pytest" | "unittest" | "nose" => run_all(shell, "pytest"),
        "httpx" | "yt_dlp" | "gdown" | "awscli" | "telnetlib" | "smtplib" | "ftplib" | "webbrowser" => {
            let raw = Raw::new(Kind::NetworkCommand, format!("python -m {module}"), &line(module, arguments));
            shell.report(raw.hosts(hosts::outside_hosts(&joined(arguments))));
        }
        module if arguments.iter().any(|word| word == "download") || module.ends_with(".downloader") => {
            shell.report(
                Raw::new(Kind::NetworkCommand, format!("python -m {module}"), &line(module, arguments))
                    .likely(),
            );
        }
        module => {
            let path = format!("{}.py", module.rsplit('.').next().unwrap_or(module));
            file(shell, &path, Some(Language::Code));
            shell.addresses(module, arguments);
        }
    }
    Output::Unknown
}
