//! Programs that log in at a host, or copy from and to it.

use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::hosts::{self, UNKNOWN};

use super::aimed;

/// Options whose next word is their value.
const WITH_VALUE: &[&str] = &[
    "-i",
    "-p",
    "-P",
    "-l",
    "-o",
    "-F",
    "-J",
    "-L",
    "-R",
    "-D",
    "-W",
    "-w",
    "-b",
    "-c",
    "-e",
    "-m",
    "-S",
    "-E",
    "-O",
    "-Q",
    "-B",
    "-I",
    "-t",
    "--exclude",
    "--include",
    "--rsh",
    "--port",
];

pub(super) fn remote(name: &str, arguments: &[String]) -> Option<Raw> {
    if name == "sshpass" {
        let at =
            arguments.iter().position(|word| matches!(word.as_str(), "ssh" | "scp" | "sftp" | "rsync"))?;
        let (inner, rest) = arguments.get(at..)?.split_first()?;
        return remote(inner, rest);
    }
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            operands.push(word);
        } else if WITH_VALUE.contains(&word.as_str())
            && !(name == "rsync"
                && matches!(
                    word.as_str(),
                    "-l" | "-p"
                        | "-o"
                        | "-c"
                        | "-P"
                        | "-R"
                        | "-b"
                        | "-m"
                        | "-W"
                        | "-S"
                        | "-i"
                        | "-L"
                        | "-D"
                        | "-t"
                ))
        {
            rest.next();
        }
    }
    let aims: Vec<Option<String>> = match name {
        "scp" | "rsync" | "sshfs" => operands
            .iter()
            .filter(|word| {
                let colon = word.find(':');
                word.contains(UNKNOWN) && colon.is_some()
                    || colon.is_some_and(|colon| !word.get(..colon).unwrap_or_default().contains('/'))
            })
            .map(|word| hosts::bare(word))
            .collect(),
        _ => operands.first().map(|word| hosts::bare(word)).into_iter().collect(),
    };
    let away = aims.iter().any(|host| !host.as_deref().is_some_and(hosts::is_here));
    (away && !aims.is_empty()).then(|| aimed(Kind::NetworkCommand, name, arguments, aims))
}
