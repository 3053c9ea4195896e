//! Mounts in the spellings of Docker, Podman and compose.

use crate::container::facts::{Mount, Source};
use crate::container::path::{self, clean};

/// `SOURCE:TARGET[:OPTIONS]`, or `TARGET` alone for a nameless volume, which is no mount of anything that exists.
pub(super) fn short(text: &str) -> Option<Mount> {
    let parts = split(text);
    let (source, target, options) = match parts.as_slice() {
        [_] | [] => return None,
        [source, target] => (*source, *target, ""),
        [source, target, options, ..] => (*source, *target, *options),
    };
    let writable = !options.split(',').any(|option| option == "ro" || option == "readonly");
    Some(Mount { source: named_or_path(source), target: target.to_owned(), writable })
}

/// A source that looks like a path is one; anything else is the name of a volume.
pub(super) fn named_or_path(source: &str) -> Source {
    match source.starts_with(['/', '.', '~', '\\']) || is_drive(source) || source.contains('$') {
        true => host(source),
        false => Source::Volume(source.to_owned()),
    }
}

/// A path of the machine. Where engines keep volumes, it is one.
pub(super) fn host(source: &str) -> Source {
    if has_variable(source) {
        return Source::Unknown(source.to_owned());
    }
    let cleaned = clean(source);
    match volume(&cleaned) {
        Some(name) => Source::Volume(name.to_owned()),
        None => Source::Host(cleaned),
    }
}

/// The name of the volume that is kept there.
fn volume(path: &str) -> Option<&str> {
    let (folder, rest) = path.split_once("/volumes/")?;
    let name = rest.strip_suffix("/_data")?;
    let is_engine = ["docker", "storage"].contains(&path::file_name(folder));
    (is_engine && !name.contains('/')).then_some(name)
}

/// `${X}` or `$X`, and not `$$`, which is a dollar sign.
pub(super) fn has_variable(text: &str) -> bool {
    text.replace("$$", "").contains('$')
}

/// At the colons that are not those of a drive letter and do not stand in `${...}`.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0usize, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && !is_drive(text.get(start..at + 2).unwrap_or_default()) => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// `C:\` or `C:/`
fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}
