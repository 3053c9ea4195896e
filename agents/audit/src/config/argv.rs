//! Arguments, taken apart as a CLI's own library does it.
//!
//! What follows a flag may be its value or the next word, and which one decides whether a switch is set: `-p
//! --disallowedTools A,B "do it"` makes `do it` a tool's name with Commander. So a CLI's flags are listed as a whole, with
//! what each takes; one that is not listed is a fault, since its value could be taken for something else.

use super::Origin;

/// A flag of a CLI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flag {
    /// The name that the module uses.
    pub(crate) name: &'static str,
    /// Every spelling with its dashes, the name among them.
    pub(crate) spellings: &'static [&'static str],
    /// What it takes.
    pub(crate) takes: Takes,
}

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing: it is set or not.
    Nothing,
    /// One value.
    One,
    /// One value, which may be left out.
    Optional,
    /// Every word up to the next flag.
    Many,
    /// The same, and there may be none.
    Any,
}

/// Whose rules are followed where libraries differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Commander (JavaScript): a value may begin with a dash; `--flag=x` ends a list.
    Commander,
    /// Yargs (JavaScript): `--someFlag` is `--some-flag`, `--no-flag` and `--flag=false` unset, and `true` or `false`
    /// after a flag that takes nothing is its value.
    Yargs,
    /// Clap (Rust), and argparse and click (Python): a value that begins with a dash needs `=`.
    Clap,
}

/// A word of the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) origin: &'a Origin,
}

/// A flag that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given<'a> {
    /// Its name in the list.
    pub(crate) flag: &'static str,
    /// Where.
    pub(crate) origin: &'a Origin,
    /// Its values.
    pub(crate) values: Vec<Word<'a>>,
    /// Whether it was unset: `--no-flag`, `--flag=false`.
    pub(crate) is_unset: bool,
}

/// Something that the CLI would not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault<'a> {
    pub(crate) at: Word<'a>,
    pub(crate) what: Wrong,
}

/// What is wrong with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// No flag of this CLI.
    Unknown,
    /// It ends where a value should be.
    NoValue,
    /// A value where none belongs.
    Value,
}

/// The arguments, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arguments<'a> {
    /// The flags in their order.
    pub(crate) given: Vec<Given<'a>>,
    /// The words that belong to no flag: subcommands, the prompt.
    pub(crate) words: Vec<Word<'a>>,
    /// What the CLI would not accept.
    pub(crate) faults: Vec<Fault<'a>>,
}

impl<'a> Arguments<'a> {
    /// Takes arguments apart.
    pub(crate) fn read(argv: &'a [(String, Origin)], flags: &[Flag], dialect: Dialect) -> Self {
        let words = argv.iter().map(|(text, origin)| Word { text, origin }).collect();
        let mut reader = Reader { words, next: 0, flags, dialect, read: Self::default() };
        while let Some(word) = reader.take() {
            if word.text == "--" {
                reader.read.words.extend(reader.words.iter().skip(reader.next));
                break;
            }
            reader.word(word);
        }
        reader.read
    }

    /// Every time that a flag was given.
    pub(crate) fn all(&self, flag: &str) -> impl Iterator<Item = &Given<'a>> {
        self.given.iter().filter(move |given| given.flag == flag)
    }

    /// The last time that a flag was given: what counts where only one can.
    pub(crate) fn last(&self, flag: &str) -> Option<&Given<'a>> {
        self.all(flag).last()
    }

    /// A flag that takes nothing, if it is set in the end.
    pub(crate) fn set(&self, flag: &str) -> Option<&Given<'a>> {
        self.last(flag).filter(|given| !given.is_unset)
    }

    /// Every value of a flag, over all times that it was given.
    pub(crate) fn values(&self, flag: &str) -> impl Iterator<Item = Word<'a>> {
        self.all(flag).flat_map(|given| given.values.iter().copied())
    }
}

impl Given<'_> {
    /// The last value: what counts where only one can.
    pub(crate) fn value(&self) -> Option<&str> {
        self.values.last().map(|word| word.text)
    }
}

struct Reader<'a, 'f> {
    words: Vec<Word<'a>>,
    next: usize,
    flags: &'f [Flag],
    dialect: Dialect,
    read: Arguments<'a>,
}

impl<'a> Reader<'a, '_> {
    fn word(&mut self, word: Word<'a>) {
        if !is_flag(word.text) {
            self.read.words.push(word);
        } else if let Some((flag, is_unset)) = self.find(word.text) {
            self.separate(flag, is_unset, word);
        } else if word.text.starts_with("--")
            && let Some((name, value)) = word.text.split_once('=')
            && let Some((flag, is_unset)) = self.find(name)
        {
            self.joined(flag, is_unset, word, value);
        } else if let Some(flag) = self.short(word.text) {
            self.cluster(flag, word);
        } else {
            self.fault(word, Wrong::Unknown);
        }
    }

    /// `--flag`, and what follows it.
    fn separate(&mut self, flag: Flag, is_unset: bool, word: Word<'a>) {
        let mut values = Vec::new();
        match flag.takes {
            _ if is_unset => {}
            Takes::Nothing => {
                let value = self
                    .peek()
                    .filter(|next| self.dialect == Dialect::Yargs && matches!(next.text, "true" | "false"));
                values.extend(value.and_then(|_| self.take()));
            }
            Takes::Optional => values.extend(self.plain()),
            Takes::One => {
                values.extend(self.one());
                if values.is_empty() {
                    self.fault(word, Wrong::NoValue);
                }
            }
            Takes::Any => {
                while let Some(value) = self.plain() {
                    values.push(value);
                }
            }
            Takes::Many => {
                values.extend(self.one());
                while let Some(value) = self.plain() {
                    values.push(value);
                }
                if values.is_empty() && self.dialect != Dialect::Yargs {
                    self.fault(word, Wrong::NoValue);
                }
            }
        }
        let is_unset = is_unset || (flag.takes == Takes::Nothing && values.iter().any(|v| v.text == "false"));
        self.read.given.push(Given { flag: flag.name, origin: word.origin, values, is_unset });
    }

    /// `--flag=value`; of the libraries, only Yargs reads on after it.
    fn joined(&mut self, flag: Flag, is_unset: bool, word: Word<'a>, value: &'a str) {
        if flag.takes == Takes::Nothing && self.dialect != Dialect::Yargs {
            return self.fault(word, Wrong::Value);
        }
        let mut values = vec![Word { text: value, origin: word.origin }];
        if flag.takes == Takes::Many && self.dialect == Dialect::Yargs {
            while let Some(value) = self.plain() {
                values.push(value);
            }
        }
        let is_unset = is_unset != (flag.takes == Takes::Nothing && value == "false");
        self.read.given.push(Given { flag: flag.name, origin: word.origin, values, is_unset });
    }

    /// `-abc`: flags that take nothing, then maybe one with the rest as its value.
    fn cluster(&mut self, flag: Flag, word: Word<'a>) {
        let rest = word.text.get(2..).unwrap_or_default();
        if flag.takes != Takes::Nothing {
            let text = rest.strip_prefix('=').filter(|_| self.dialect != Dialect::Commander).unwrap_or(rest);
            let values = vec![Word { text, origin: word.origin }];
            self.read.given.push(Given { flag: flag.name, origin: word.origin, values, is_unset: false });
            return;
        }
        self.read.given.push(Given {
            flag: flag.name,
            origin: word.origin,
            values: Vec::new(),
            is_unset: false,
        });
        let mut letters = rest.char_indices();
        let Some((at, letter)) = letters.next() else { return };
        let found = self.flags.iter().find(|flag| {
            flag.spellings.iter().any(|spelling| is_short(spelling) && spelling.ends_with(letter))
        });
        let (Some(flag), Some(tail)) = (found.copied(), rest.get(at..)) else {
            return self.fault(word, Wrong::Unknown);
        };
        let tail = tail.get(letter.len_utf8()..).unwrap_or_default();
        match (flag.takes, tail) {
            (_, "") => self.separate(flag, false, word),
            (Takes::Nothing, _) => self.fault(word, Wrong::Unknown),
            (_, text) => {
                let values = vec![Word { text, origin: word.origin }];
                self.read.given.push(Given { flag: flag.name, origin: word.origin, values, is_unset: false });
            }
        }
    }

    fn find(&self, text: &str) -> Option<(Flag, bool)> {
        let spelt = |text: &str| self.flags.iter().find(|flag| flag.spellings.contains(&text)).copied();
        if let Some(flag) = spelt(text) {
            return Some((flag, false));
        }
        if self.dialect != Dialect::Yargs {
            return None;
        }
        let dashed = dashed(text);
        if let Some(flag) = spelt(&dashed) {
            return Some((flag, false));
        }
        let positive = format!("--{}", dashed.strip_prefix("--no-")?);
        spelt(&positive).map(|flag| (flag, true))
    }

    fn short(&self, text: &str) -> Option<Flag> {
        let short = text.get(..2).filter(|short| is_short(short) && text.len() > 2)?;
        self.flags.iter().find(|flag| flag.spellings.contains(&short)).copied()
    }

    fn one(&mut self) -> Option<Word<'a>> {
        if self.dialect == Dialect::Commander { self.take() } else { self.plain() }
    }

    /// The next word, if it is no flag.
    fn plain(&mut self) -> Option<Word<'a>> {
        self.peek().filter(|word| !is_flag(word.text))?;
        self.take()
    }

    fn peek(&self) -> Option<Word<'a>> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self) -> Option<Word<'a>> {
        let word = self.peek()?;
        self.next += 1;
        Some(word)
    }

    fn fault(&mut self, at: Word<'a>, what: Wrong) {
        self.read.faults.push(Fault { at, what });
    }
}

/// A dash alone is a word: standard input.
fn is_flag(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

fn is_short(text: &str) -> bool {
    text.len() == 2 && text.starts_with('-') && !text.ends_with('-')
}

/// `--someFlag` as `--some-flag`.
fn dashed(text: &str) -> String {
    let mut dashed = String::with_capacity(text.len() + 4);
    for letter in text.chars() {
        if letter.is_ascii_uppercase() {
            dashed.push('-');
        }
        dashed.push(letter.to_ascii_lowercase());
    }
    dashed
}

#[cfg(test)]
mod tests;
