//! Programs that start the program that they are given: `sudo`, `xargs`, `timeout`, `find -exec`.

use crate::trajectory::hosts::UNKNOWN;

use super::super::{Output, Shell};
use super::is_name;

impl Shell<'_> {
    /// What a wrapper leads to.
    pub(super) fn led(&mut self, name: &str, rest: Led<'_>, input: Output) -> Output {
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

/// What a wrapper is given to start.
pub(super) enum Led<'a> {
    Words(&'a [String]),
    Script(String),
    Nothing,
}

/// Programs that start the program that they are given, and what they are given.
pub(super) fn led_to<'a>(name: &str, arguments: &'a [String]) -> Option<Led<'a>> {
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
