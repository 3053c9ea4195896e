//! One command: what it is, after everything that only leads to it.

use super::super::decode;
use super::super::finding::{Kind, Raw, excerpt};
use super::super::hosts::{self, UNKNOWN};
use super::files::base;
use super::lex::{Part, Word};
use super::{Output, Shell, interpreters, network, packages, versions};

impl Shell<'_> {
    /// A command with the assignments before it.
    pub(super) fn words(&mut self, words: &[Word], input: Output) -> Output {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let Some(name) = assigned(word) else { break };
            let value = self.expand_whole(word);
            let value = value.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
            self.set(&name, value);
            rest = after;
        }
        let mut arguments = Vec::new();
        for word in rest {
            arguments.extend(self.expand(word));
        }
        self.command(&arguments, input)
    }

    /// A command whose words are known.
    pub(crate) fn command(&mut self, words: &[String], input: Output) -> Output {
        let Some((called, arguments)) = words.split_first() else { return Output::none() };
        if let Some(alias) = self.world.variables.get(&format!("alias {}", base(called))).cloned() {
            let line = format!("{alias} {}", joined(arguments));
            return self.run_within("alias", &line, input);
        }
        let name = base(called);
        let name = self::plain_name(name);
        if name.contains(UNKNOWN) || name.is_empty() {
            self.unknown_command(words);
            return Output::Unknown;
        }
        if name.contains(['*', '?', '['])
            && name.len() > 1
            && name != "[["
            && let Some(known) = network::matching(name)
        {
            let mut words = words.to_vec();
            if let Some(first) = words.first_mut() {
                *first = known.to_owned();
            }
            return self.command(&words, input);
        }
        if let Some(output) = self.printing(name, arguments, &input) {
            return output;
        }
        if let Some(rest) = led_to(name, arguments) {
            return self.led(name, rest, input);
        }
        if let Some(output) = interpreters::run(self, name, arguments, &input) {
            return output;
        }
        if let Some(judged) = network::judge(name, arguments)
            .or_else(|| packages::judge(name, arguments))
            .or_else(|| versions::judge(name, arguments))
        {
            for raw in judged {
                self.report(raw);
            }
            return Output::Unknown;
        }
        if self.world.files.has(called) {
            interpreters::file(self, called, None);
        } else if !is_text_command(name) {
            self.addresses(name, words);
            return Output::Unknown;
        }
        self.texts(words);
        Output::Unknown
    }

    /// Words that are given to a program that this scan knows nothing of.
    pub(super) fn addresses(&mut self, name: &str, words: &[String]) {
        let line = joined(words);
        if hosts::outside(&line).all(|url| hosts::is_namespace(url.text)) {
            return;
        }
        let raw = Raw::new(Kind::Url, format!("an address is given to `{name}`"), &line);
        self.report(raw.hosts(hosts::outside_hosts(&line)).likely());
    }

    fn unknown_command(&mut self, words: &[String]) {
        let line = joined(words);
        let line_hosts = hosts::outside_hosts(&line);
        if hosts::outside(&line).next().is_some() {
            let raw = Raw::new(Kind::Url, "an address is given to a command that can't be known", &line);
            self.report(raw.hosts(line_hosts).likely());
        }
    }

    /// Addresses that are only text here.
    fn texts(&mut self, words: &[String]) {
        let line = joined(words);
        if hosts::outside(&line).next().is_some() {
            let raw = Raw::new(Kind::Url, "an address that is only text", &line);
            self.report(raw.hosts(hosts::outside_hosts(&line)).text_only());
        }
    }

    /// Programs whose output follows from their words and their input.
    fn printing(&mut self, name: &str, arguments: &[String], input: &Output) -> Option<Output> {
        match name {
            "echo" => {
                self.texts(arguments);
                Some(Output::Text(echo(arguments)))
            }
            "printf" => {
                self.texts(arguments);
                let arguments = match arguments.first().map(String::as_str) {
                    Some("-v") => arguments.get(2..).unwrap_or_default(),
                    Some("--") => arguments.get(1..).unwrap_or_default(),
                    _ => arguments,
                };
                let text = printf(arguments);
                Some(Output::Text(text))
            }
            "cat" | "tac" | "head" | "tail" | "tee" | "sponge" | "sort" | "uniq" | "less" | "more" | "nl"
            | "unbuffer" => {
                if name == "tee" || name == "sponge" {
                    for file in arguments.iter().filter(|word| !word.starts_with('-')) {
                        if let Some(raw) = super::dev_tcp(file) {
                            self.report(raw);
                        }
                        self.world.files.write(file, input.clone());
                    }
                    return Some(input.clone());
                }
                self.texts(arguments);
                Some(self.read_files(arguments, input))
            }
            "base64" | "base32" | "basenc" | "uudecode" | "ascii85" => {
                let decodes = name == "uudecode"
                    || arguments
                        .iter()
                        .any(|word| matches!(word.as_str(), "-d" | "--decode" | "-D" | "-di" | "-id"));
                let files: Vec<String> =
                    arguments.iter().filter(|word| !word.starts_with('-')).cloned().collect();
                Some(self.decoder(decodes, &files, input, decode::base64))
            }
            "openssl"
                if arguments.iter().any(|word| word == "base64" || word == "-base64" || word == "enc") =>
            {
                let decodes = arguments.iter().any(|word| word == "-d");
                let file = arguments.iter().skip_while(|word| *word != "-in").nth(1).cloned();
                Some(self.decoder(decodes, &Vec::from_iter(file), input, decode::base64))
            }
            "xxd" | "hexdump" | "od" => {
                let decodes =
                    name == "xxd" && arguments.iter().any(|word| word.starts_with('-') && word.contains('r'));
                let files: Vec<String> =
                    arguments.iter().filter(|word| !word.starts_with('-')).cloned().collect();
                Some(self.decoder(decodes, &files, input, decode::hex))
            }
            "gunzip" | "zcat" | "bunzip2" | "bzcat" | "xzcat" | "unxz" | "zstdcat" | "unzstd" | "gpg"
            | "uncompress" => {
                self.texts(arguments);
                Some(Output::Decoded)
            }
            "gzip" | "bzip2" | "xz" | "zstd"
                if arguments.iter().any(|word| word.starts_with('-') && word.contains('d')) =>
            {
                Some(Output::Decoded)
            }
            "rev" => Some(match input {
                Output::Text(text) => {
                    let lines: Vec<String> = text.lines().map(|line| line.chars().rev().collect()).collect();
                    Output::Text(lines.join("\n"))
                }
                other => other.clone(),
            }),
            "tr" => Some(match input {
                Output::Text(text) => translated(text, arguments).map_or(Output::Decoded, Output::Text),
                other => other.clone(),
            }),
            "sed" | "awk" | "gawk" | "mawk" | "cut" | "grep" | "egrep" => {
                self.texts(arguments);
                let line = joined(arguments);
                if name.ends_with("awk")
                    && (line.contains("/inet/") || line.contains("/inet4/") || line.contains("/inet6/"))
                {
                    self.report(Raw::new(Kind::DevTcp, "awk's own socket", &line));
                }
                if name.ends_with("awk") {
                    super::super::code::commands_in(self, &line);
                }
                // A text that passes a filter may be put together from what went in.
                Some(match input {
                    Output::Text(text) if text.is_empty() => Output::Unknown,
                    Output::Text(_) => Output::Decoded,
                    other => other.clone(),
                })
            }
            "cp" | "mv" | "ln" | "install" => {
                let files: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
                if let [from, to] = files.as_slice() {
                    // A program under another name stays what it is.
                    if network::is_program(base(from)) && base(to) != base(from) {
                        self.set(&format!("alias {}", base(to)), base(from).to_owned());
                    }
                    self.world.files.copied(from, to);
                }
                Some(Output::none())
            }
            "which" | "type" => Some(Output::Text(arguments.last().cloned().unwrap_or_default())),
            "command" if arguments.first().is_some_and(|word| word == "-v") => {
                Some(Output::Text(arguments.last().cloned().unwrap_or_default()))
            }
            "alias" => {
                for word in arguments {
                    if let Some((name, value)) = word.split_once('=') {
                        self.set(&format!("alias {name}"), value.to_owned());
                    }
                }
                Some(Output::none())
            }
            "export" | "declare" | "local" | "readonly" | "typeset" | "set" => {
                self.texts(arguments);
                for word in arguments.iter().filter(|word| !word.starts_with('-')) {
                    if let Some((name, value)) = word.split_once('=') {
                        self.set(name, value.to_owned());
                    }
                }
                Some(Output::none())
            }
            "read" | "mapfile" | "readarray" => {
                let name = arguments.iter().rfind(|word| !word.starts_with('-')).cloned();
                let value = input.clone().or_mark();
                self.set(&name.unwrap_or_else(|| "REPLY".into()), value.trim_end().to_owned());
                Some(Output::none())
            }
            ":" | "true" | "false" | "cd" | "pwd" | "exit" | "return" | "shift" | "unset" | "wait"
            | "sleep" | "mkdir" | "touch" | "chmod" | "rm" => {
                self.texts(arguments);
                Some(Output::none())
            }
            _ => None,
        }
    }

    fn read_files(&mut self, arguments: &[String], input: &Output) -> Output {
        let files: Vec<&String> =
            arguments.iter().filter(|word| !word.starts_with('-') || *word == "-").collect();
        if files.is_empty() {
            return input.clone();
        }
        let mut output = Output::none();
        for file in files {
            if let Some(raw) = super::dev_tcp(file) {
                self.report(raw);
            }
            let more = match file.as_str() {
                "-" | "/dev/stdin" => input.clone(),
                file => match self.world.files.content(file) {
                    Some(text) => Output::Text(text),
                    None => self.world.files.unreadable(file).unwrap_or(Output::Unknown),
                },
            };
            output = output.append(more);
        }
        output
    }

    fn decoder(
        &mut self,
        decodes: bool,
        files: &[String],
        input: &Output,
        decode: fn(&str) -> Option<String>,
    ) -> Output {
        let source = if files.is_empty() { input.clone() } else { self.read_files(files, input) };
        match (decodes, source) {
            (true, Output::Text(text)) => decode(&text).map_or(Output::Decoded, Output::Text),
            (true, _) => Output::Decoded,
            (false, _) => Output::Unknown,
        }
    }

    /// What a wrapper leads to.
    fn led(&mut self, name: &str, rest: Led<'_>, input: Output) -> Output {
        match rest {
            Led::Words(words) => {
                let mut words = words;
                while let Some((word, after)) = words.split_first() {
                    let Some((variable, value)) = word.split_once('=') else { break };
                    if !is_name(variable) {
                        break;
                    }
                    self.set(variable, value.to_owned());
                    words = after;
                }
                let mut words = words.to_vec();
                // What is piped into `xargs` becomes its command's words.
                if name == "xargs" || name == "parallel" {
                    if words.is_empty() {
                        return input;
                    }
                    let more: Vec<String> = match &input {
                        Output::Text(text) => text.split_whitespace().take(1000).map(str::to_owned).collect(),
                        _ => vec![UNKNOWN.to_string()],
                    };
                    // `xargs -I{} sh -c '... {}'`
                    if words.iter().any(|word| word.contains("{}")) {
                        let line = more.join(" ");
                        words = words.iter().map(|word| word.replace("{}", &line)).collect();
                    } else {
                        words.extend(more);
                    }
                    let run = |shell: &mut Self| shell.command(&words, Output::none());
                    return self.within("", 0, run).unwrap_or(Output::Unknown);
                }
                // `sudo sudo sudo ...`
                self.within("", 0, |shell| shell.command(&words, input)).unwrap_or(Output::Unknown)
            }
            Led::Script(script) => self.run_within(name, &script, input),
            Led::Nothing => Output::Unknown,
        }
    }
}

/// The name that an assignment sets.
fn assigned(word: &Word) -> Option<String> {
    let Part::Plain(text) = word.parts.first()? else { return None };
    let (name, _) = text.split_once('=')?;
    let plain = name.strip_suffix('+').unwrap_or(name);
    let plain = plain.split('[').next()?;
    is_name(plain).then(|| name.to_owned())
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `curl.exe` is `curl`.
fn plain_name(name: &str) -> &str {
    name.strip_suffix(".exe").unwrap_or(name)
}

pub(super) enum Led<'a> {
    Words(&'a [String]),
    Script(String),
    Nothing,
}

/// Programs that start the program that they are given, and what they are given.
fn led_to<'a>(name: &str, arguments: &'a [String]) -> Option<Led<'a>> {
    // Options that take the next word, and how many words stand before the command.
    let (with_value, before): (&[&str], usize) = match name {
        "env" => {
            let split = arguments.iter().position(|word| word == "-S" || word == "--split-string");
            if let Some(script) = split.and_then(|at| arguments.get(at + 1..)) {
                return Some(Led::Script(script.join(" ")));
            }
            (&["-u", "--unset", "-C", "--chdir"], 0)
        }
        "sudo" | "doas" | "gosu" | "runuser" | "su" | "su-exec" => {
            if let Some(at) = arguments.iter().position(|word| word == "-c" || word == "--command") {
                return Some(Led::Script(arguments.get(at + 1).cloned().unwrap_or_default()));
            }
            if name == "su" {
                return Some(Led::Nothing);
            }
            (
                &["-u", "-g", "-h", "-p", "-U", "-C", "-D", "-R", "-T", "--user", "--group"],
                usize::from(name == "gosu" || name == "su-exec"),
            )
        }
        "timeout" | "gtimeout" => (&["-k", "-s", "--kill-after", "--signal"], 1),
        "nohup" | "setsid" | "builtin" | "nocorrect" | "noglob" | "caffeinate" | "catchsegv" | "fakeroot"
        | "eatmydata" | "prlimit" | "setpriv" | "dbus-run-session" | "xvfb-run" | "winpty" | "not"
        | "chronic" | "ts" | "ltrace" => (&[], 0),
        "nice" => (&["-n", "--adjustment"], 0),
        "ionice" => (&["-c", "-n", "-p"], 0),
        "chrt" | "taskset" | "chroot" => (&[], 1),
        "stdbuf" => (&["-i", "-o", "-e"], 0),
        "time" => (&["-f", "-o", "--format", "--output"], 0),
        "exec" => (&["-a"], 0),
        "strace" => (&["-o", "-e", "-s", "-p", "-u", "-E"], 0),
        "unshare" | "nsenter" | "systemd-run" | "bwrap" | "firejail" => (&["-S", "-G", "-t", "-p"], 0),
        "command" => {
            if arguments.first().is_some_and(|word| word == "-v" || word == "-V") {
                return Some(Led::Nothing);
            }
            (&[], 0)
        }
        "xargs" | "parallel" => (
            &[
                "-n",
                "-I",
                "-P",
                "-L",
                "-d",
                "-a",
                "-s",
                "-E",
                "-j",
                "--jobs",
                "--max-args",
                "--max-procs",
                "--replace",
                "--delimiter",
            ],
            0,
        ),
        "flock" => {
            if let Some(at) = arguments.iter().position(|word| word == "-c" || word == "--command") {
                return Some(Led::Script(arguments.get(at + 1).cloned().unwrap_or_default()));
            }
            (&["-w", "-E"], 1)
        }
        "watch" => {
            let rest = after_options(arguments, &["-n", "--interval"], 0);
            return Some(Led::Script(rest.join(" ")));
        }
        "script" => {
            let at = arguments.iter().position(|word| {
                word == "-c" || word == "--command" || word.ends_with('c') && word.starts_with('-')
            })?;
            return Some(Led::Script(arguments.get(at + 1).cloned().unwrap_or_default()));
        }
        "busybox" | "toybox" => (&[], 0),
        "eval" => return Some(Led::Script(arguments.join(" "))),
        "trap" => return Some(Led::Script(arguments.first().cloned().unwrap_or_default())),
        "uv" | "poetry" | "pdm" | "pipenv" | "hatch" | "rye" | "conda" | "mamba" | "micromamba" => {
            if arguments.first().is_none_or(|verb| verb != "run") {
                return None;
            }
            if arguments.iter().any(|word| word == "--with" || word.starts_with("--with=")) {
                return None;
            }
            let rest = arguments.get(1..).unwrap_or_default();
            return Some(Led::Words(after_options(
                rest,
                &[
                    "-n",
                    "--name",
                    "-p",
                    "--prefix",
                    "--python",
                    "--project",
                    "--directory",
                    "--extra",
                    "--group",
                ],
                0,
            )));
        }
        "find" => return Some(executed_by_find(arguments)),
        _ => return None,
    };
    Some(Led::Words(after_options(arguments, with_value, before)))
}

fn after_options<'a>(arguments: &'a [String], with_value: &[&str], before: usize) -> &'a [String] {
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" {
            rest = after;
            break;
        }
        if !word.starts_with('-') {
            break;
        }
        rest = after;
        if with_value.contains(&word.as_str()) {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    rest.get(before..).unwrap_or_default()
}

fn executed_by_find(arguments: &[String]) -> Led<'_> {
    match arguments.iter().position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir")) {
        Some(at) => Led::Words(arguments.get(at + 1..).unwrap_or_default()),
        None => Led::Nothing,
    }
}

fn echo(arguments: &[String]) -> String {
    let options = arguments
        .iter()
        .take_while(|word| matches!(word.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en"))
        .count();
    let text = arguments.get(options..).unwrap_or_default().join(" ");
    let escaped = arguments.iter().take(options).any(|word| word.contains('e'));
    let mut text = if escaped { decode::escapes(&text) } else { text };
    text.push('\n');
    text
}

/// `%s` and `%b` with their values, as often as there are values.
fn printf(arguments: &[String]) -> String {
    let Some((format, values)) = arguments.split_first() else { return String::new() };
    let format = decode::escapes(format);
    let mut values = values.iter();
    let mut out = String::new();
    loop {
        let before = values.len();
        let mut rest = format.chars();
        while let Some(c) = rest.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            match rest.by_ref().find(|c| !matches!(c, '0'..='9' | '-' | '.' | '+' | ' ' | '#')) {
                Some('%') => out.push('%'),
                Some('b') => out.push_str(&decode::escapes(values.next().map_or("", String::as_str))),
                Some(_) => out.push_str(values.next().map_or("", String::as_str)),
                None => {}
            }
        }
        if values.len() == 0 || values.len() == before || out.len() > super::LONGEST_VALUE {
            return out;
        }
    }
}

/// `tr`: sets of the same length, and `-d`.
fn translated(text: &str, arguments: &[String]) -> Option<String> {
    let deletes = arguments.first().is_some_and(|word| word == "-d");
    let sets: Vec<Vec<char>> =
        arguments.iter().filter(|word| !word.starts_with('-')).map(|word| set(word)).collect();
    match sets.as_slice() {
        [gone] if deletes => Some(text.chars().filter(|c| !gone.contains(c)).collect()),
        [from, to] => Some(
            text.chars()
                .map(|c| match from.iter().position(|known| *known == c) {
                    Some(at) => to.get(at).or(to.last()).copied().unwrap_or(c),
                    None => c,
                })
                .collect(),
        ),
        _ => None,
    }
}

fn set(word: &str) -> Vec<char> {
    let chars: Vec<char> = decode::escapes(word).chars().take(1024).collect();
    let mut out = Vec::new();
    let mut rest = chars.as_slice();
    while let Some((first, after)) = rest.split_first() {
        match after {
            ['-', last, more @ ..] if first <= last => {
                out.extend((*first..=*last).take(256));
                rest = more;
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

/// Programs to which an address is only text.
fn is_text_command(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "rg",
        "ag",
        "ack",
        "fgrep",
        "zgrep",
        "jq",
        "yq",
        "test",
        "[",
        "[[",
        "]]",
        "diff",
        "cmp",
        "comm",
        "wc",
        "ls",
        "tree",
        "file",
        "stat",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "expr",
        "seq",
        "date",
        "history",
        "which",
        "type",
        "whereis",
        "hash",
        "man",
        "info",
        "apropos",
        "help",
        "whatis",
        "xmllint",
        "logger",
        "wall",
        "notify-send",
        "figlet",
        "fold",
        "fmt",
        "column",
        "paste",
        "join",
        "split",
        "shuf",
        "strings",
        "sha256sum",
        "md5sum",
        "let",
        "bc",
        "column",
        "patch",
        "apply_patch",
    ];
    NAMES.contains(&name)
}

/// The words as a line, for people.
pub(super) fn joined(words: &[String]) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 64 << 10 {
            break;
        }
    }
    line
}

/// A command with its words, as an excerpt.
pub(super) fn line(name: &str, arguments: &[String]) -> String {
    excerpt(&format!("{name} {}", joined(arguments)))
}
