//! Programs whose output follows from their words and their input, and builtins that keep something for later.
//!
//! What they print is followed because it may be piped into a shell.

use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::{code, decode};

use super::super::files::base;
use super::super::redirects::dev_tcp;
use super::super::{Output, Shell, network};
use super::joined;
use super::prints::{echo, printf, translated};

impl Shell<'_> {
    /// Programs whose output follows from their words and their input.
    pub(super) fn printing(&mut self, name: &str, arguments: &[String], input: &Output) -> Option<Output> {
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
                        if let Some(raw) = dev_tcp(file) {
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
                    code::commands_in(self, &line);
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
            if let Some(raw) = dev_tcp(file) {
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
}
