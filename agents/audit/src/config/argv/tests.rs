use super::*;

const FLAGS: &[Flag] = &[
    Flag { name: "--deny", spellings: &["--deny", "--disallowed-tools"], takes: Takes::Many },
    Flag { name: "--print", spellings: &["-p", "--print"], takes: Takes::Nothing },
    Flag { name: "--config", spellings: &["-c", "--config"], takes: Takes::One },
    Flag { name: "--resume", spellings: &["-r", "--resume"], takes: Takes::Optional },
];

fn argv(words: &[&str]) -> Vec<(String, Origin)> {
    words
        .iter()
        .enumerate()
        .map(|(n, word)| ((*word).to_owned(), Origin::Argument { number: n + 1 }))
        .collect()
}

/// What was read, in short: `flag=values`, `!flag` if unset, then the words, then the faults.
fn read(dialect: Dialect, words: &[&str]) -> String {
    let argv = argv(words);
    let read = Arguments::read(&argv, FLAGS, dialect);
    let mut parts = Vec::new();
    for given in &read.given {
        let values: Vec<&str> = given.values.iter().map(|word| word.text).collect();
        parts.push(format!("{}{}={}", if given.is_unset { "!" } else { "" }, given.flag, values.join(",")));
    }
    parts.extend(read.words.iter().map(|word| word.text.to_owned()));
    parts.extend(read.faults.iter().map(|fault| format!("{:?}:{}", fault.what, fault.at.text)));
    parts.join(" ")
}

#[test]
fn as_commander_reads() {
    use Dialect::Commander;
    for (words, expected) in [
        (&["-p", "hello", "--deny", "A,B"][..], "--print= --deny=A,B hello"),
        (&["--deny", "A", "B", "-p", "x"], "--deny=A,B --print= x"),
        // The prompt is eaten as a tool's name.
        (&["-p", "--deny", "A,B", "prompt"], "--print= --deny=A,B,prompt"),
        (&["-p", "--deny=A,B", "prompt"], "--print= --deny=A,B prompt"),
        // A flag that needs a value takes whatever comes.
        (&["--config", "--print"], "--config=--print"),
        (&["--deny", "--print", "x"], "--deny=--print,x"),
        (&["-pc", "x"], "--print= --config=x"),
        (&["-pcx"], "--print= --config=x"),
        (&["-c=x"], "--config==x"),
        (&["--resume", "-p"], "--resume= --print="),
        (&["--resume", "id", "-p"], "--resume=id --print="),
        (&["--", "--deny", "A"], "--deny A"),
        (&["--config"], "--config= NoValue:--config"),
        (&["--print=x"], "Value:--print=x"),
        (&["--what", "-z"], "Unknown:--what Unknown:-z"),
        (&["-"], "-"),
        (&["--disallowed-tools", "A"], "--deny=A"),
        (&["--disallowedTools", "A"], "A Unknown:--disallowedTools"),
    ] {
        assert_eq!(read(Commander, words), expected, "{words:?}");
    }
}

#[test]
fn as_yargs_reads() {
    use Dialect::Yargs;
    for (words, expected) in [
        (&["--disallowedTools", "A", "B"][..], "--deny=A,B"),
        (&["--deny=A", "B", "-p"], "--deny=A,B --print="),
        (&["--no-print"], "!--print="),
        (&["--print=false"], "!--print=false"),
        (&["--print", "false", "x"], "!--print=false x"),
        (&["--deny", "-p"], "--deny= --print="),
        (&["--config", "-p"], "--config= --print= NoValue:--config"),
    ] {
        assert_eq!(read(Yargs, words), expected, "{words:?}");
    }
}

#[test]
fn as_clap_reads() {
    use Dialect::Clap;
    for (words, expected) in [
        (&["-cweb=off"][..], "--config=web=off"),
        (&["-c=web=off"], "--config=web=off"),
        (&["-c", "web=off", "exec", "-p"], "--config=web=off --print= exec"),
        (&["--config=web=off"], "--config=web=off"),
        (&["--config", "-p"], "--config= --print= NoValue:--config"),
        (&["--no-print"], "Unknown:--no-print"),
    ] {
        assert_eq!(read(Clap, words), expected, "{words:?}");
    }
}

/// G16: no arguments panic, whatever is in them.
#[test]
fn any_words_are_read() {
    let odd = ["", "-", "--", "---", "-\u{e4}", "-p\u{e4}", "--\u{e4}=", "=", "--=", "-=", "-p-", "\u{0}"];
    for dialect in [Dialect::Commander, Dialect::Yargs, Dialect::Clap] {
        for a in odd {
            for b in odd {
                read(dialect, &[a, b, "--deny", a, b]);
            }
        }
    }
}
