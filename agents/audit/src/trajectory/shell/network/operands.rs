//! Which words of a command are its operands: no options, and no values of options.

/// The words that are no option and no option's value.
pub(super) fn operands<'a>(name: &str, arguments: &'a [String]) -> Vec<&'a String> {
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            operands.push(word);
        } else if WITH_VALUE.contains(&word.as_str()) && !stands_alone(name, word) {
            rest.next();
        }
    }
    operands
}

/// Of [`WITH_VALUE`], the ones that stand alone in `curl` or `wget`.
fn stands_alone(name: &str, word: &str) -> bool {
    match name {
        "curl" => matches!(word, "-O" | "-q" | "-n" | "-l" | "-i" | "-p" | "-s" | "-S" | "-a"),
        "wget" => {
            matches!(word, "-c" | "-q" | "-d" | "-m" | "-p" | "-r" | "-N" | "-S" | "-H" | "-b" | "-F" | "-E")
        }
        _ => matches!(word, "-s" | "-q" | "-n" | "-l" | "-p" | "-b" | "-F" | "-d" | "-c"),
    }
}

/// Options of fetching programs whose next word is no address.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-O",
    "-H",
    "-d",
    "-X",
    "-u",
    "-A",
    "-e",
    "-b",
    "-c",
    "-w",
    "-m",
    "-T",
    "-F",
    "-E",
    "-D",
    "-C",
    "-r",
    "-y",
    "-Y",
    "-z",
    "-Q",
    "-t",
    "-P",
    "-a",
    "-U",
    "-S",
    "-q",
    "-n",
    "-l",
    "-i",
    "-p",
    "-s",
    "--output",
    "--header",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--request",
    "--user",
    "--user-agent",
    "--referer",
    "--cookie",
    "--cookie-jar",
    "--write-out",
    "--max-time",
    "--connect-timeout",
    "--retry",
    "--retry-delay",
    "--form",
    "--cert",
    "--key",
    "--cacert",
    "--capath",
    "--dump-header",
    "--upload-file",
    "--limit-rate",
    "--output-dir",
    "--output-document",
    "--timeout",
    "--tries",
    "--post-data",
    "--directory-prefix",
    "--max-filesize",
    "--range",
    "--dir",
    "--split",
];
