//! Programs that run other people's text: shells, language interpreters, build tools.

use super::super::code;
use super::super::finding::{Kind, Level, Raw};
use super::super::hosts;
use super::super::json;
use super::commands::{joined, line};
use super::files::{Known, Language, base, language};
use super::{Output, Shell, packages};

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
        _ => interpreter(name).map(|_| a_language(shell, name, arguments, input)),
    }
}

fn interpreter(name: &str) -> Option<()> {
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
fn opaque(shell: &mut Shell<'_>, name: &str, arguments: &[String], input: &Output) -> Output {
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

fn a_language(shell: &mut Shell<'_>, name: &str, arguments: &[String], input: &Output) -> Output {
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
            return a_module(shell, after, input);
        }
        if let Some(module) =
            word.strip_prefix("-m").filter(|module| !module.is_empty() && name.starts_with("python"))
        {
            let mut words = vec![module.to_owned()];
            words.extend_from_slice(after);
            return a_module(shell, &words, input);
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
fn a_module(shell: &mut Shell<'_>, words: &[String], input: &Output) -> Output {
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
    let _ = input;
    Output::Unknown
}

/// Programs that read the files they are given.
fn run_named(shell: &mut Shell<'_>, name: &str, arguments: &[String]) -> Output {
    for word in arguments {
        if shell.world.files.has(word) {
            file(shell, word, None);
        }
    }
    shell.addresses(name, arguments);
    Output::Unknown
}

/// Programs that run what they find.
fn run_all(shell: &mut Shell<'_>, name: &str) {
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
fn package_scripts(shell: &mut Shell<'_>) {
    let Some(content) = shell.world.files.content("package.json") else { return };
    let Ok(package) = json::parse(&content) else { return };
    let Some(scripts) = package.get("scripts") else { return };
    for (_, script) in scripts.fields() {
        if let Some(script) = script.as_text() {
            shell.run_within("package.json", script, Output::none());
        }
    }
}

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
        raw.via.insert(0, base(path).replace(super::UNKNOWN, ""));
        shell.report(raw);
    }
    imports(shell, path);
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

/// What running a file does.
pub(crate) fn examine(shell: &mut Shell<'_>, path: &str, as_what: Option<Language>) -> Option<Vec<Raw>> {
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
