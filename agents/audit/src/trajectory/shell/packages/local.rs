//! Packages that are on this machine already: installing them fetches nothing.

/// Whether a word names something on this machine.
pub(super) fn is_local(word: &str) -> bool {
    let word = word.rsplit_once("@ ").map_or(word, |(_, path)| path);
    let path = word.split('[').next().unwrap_or(word);
    path == "."
        || path == ".."
        || path.starts_with("./")
        || path.starts_with("../")
        || path.starts_with('/')
        || path.starts_with('~')
        || path.starts_with("file:")
        || [".whl", ".tar.gz", ".tgz", ".zip", ".deb", ".rpm", ".gem", ".crate"]
            .iter()
            .any(|ending| path.ends_with(ending))
            && !path.contains("://")
}

/// `pip install ./here -e .`: nothing but what is on this machine.
pub(super) fn only_local_packages(words: &[&str], verb: &str) -> bool {
    if words.iter().any(|word| {
        matches!(
            *word,
            "-r" | "--requirement" | "--requirements" | "--index-url" | "-i" | "--extra-index-url"
        ) || word.starts_with("-r") && word.len() > 2
    }) {
        return false;
    }
    let mut named = 0;
    let mut rest = words.iter().skip_while(|word| **word != verb).skip(1);
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(word) {
            rest.next();
        } else if !word.starts_with('-') {
            named += 1;
            if !is_local(word) {
                return false;
            }
        }
    }
    named > 0
}

/// Options of `pip` whose next word is their value.
const WITH_VALUE: &[&str] = &[
    "-t",
    "--target",
    "--prefix",
    "--root",
    "-c",
    "--constraint",
    "-f",
    "--find-links",
    "-i",
    "--index-url",
    "--extra-index-url",
    "--python",
    "-d",
    "--dest",
    "-w",
    "--wheel-dir",
    "--src",
    "--cache-dir",
    "--log",
    "--proxy",
    "--timeout",
    "--retries",
    "-p",
];
