//! What `echo`, `printf` and `tr` print.

use crate::trajectory::decode;

use super::super::LONGEST_VALUE;

pub(super) fn echo(arguments: &[String]) -> String {
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
pub(super) fn printf(arguments: &[String]) -> String {
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
        if values.len() == 0 || values.len() == before || out.len() > LONGEST_VALUE {
            return out;
        }
    }
}

/// `tr`: sets of the same length, and `-d`.
pub(super) fn translated(text: &str, arguments: &[String]) -> Option<String> {
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
