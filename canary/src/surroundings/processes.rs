//! Processes that can be seen from here.

use std::collections::HashMap;
use std::fs;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: i32,
    /// Its parent's.
    pub(crate) parent: i32,
    /// The name of its program, as the kernel has it: 15 octets at most.
    pub(crate) name: String,
    /// Its arguments, the program first.
    pub(crate) words: Vec<String>,
}

/// All of them; an error if there is no /proc.
pub(crate) fn processes() -> std::io::Result<Vec<Process>> {
    Ok(fs::read_dir("/proc")?
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            // It may have ended meanwhile.
            let (name, parent) = stat(&fs::read_to_string(entry.path().join("stat")).ok()?)?;
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words =
                line.split(|octet| *octet == 0).map(|word| String::from_utf8_lossy(word).into_owned());
            Some(Process { pid, parent, name, words: words.filter(|word| !word.is_empty()).collect() })
        })
        .collect())
}

/// Those that are not this process, nor above it: an init or a supervisor is not what it watches.
pub(crate) fn others(all: Vec<Process>, own: i32) -> Vec<Process> {
    let parents: HashMap<i32, i32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let mut above = vec![own];
    while let Some(parent) = above.last().and_then(|pid| parents.get(pid)).copied() {
        if above.contains(&parent) {
            break;
        }
        above.push(parent);
    }
    all.into_iter().filter(|process| !above.contains(&process.pid)).collect()
}

/// `pid (name) state ppid ...`; the name may have brackets and spaces in it.
fn stat(text: &str) -> Option<(String, i32)> {
    let (start, end) = (text.find('(')?, text.rfind(')')?);
    let name = text.get(start + 1..end)?.to_owned();
    let parent = text.get(end + 1..)?.split_whitespace().nth(1)?.parse().ok()?;
    Some((name, parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets_are_read() {
        assert_eq!(stat("7 (a) b (c) S 3 7 7 0"), Some(("a) b (c".to_owned(), 3)));
        assert_eq!(stat("7 a S 3"), None);
    }

    #[test]
    fn what_is_above_is_not_another() {
        let process = |pid, parent| Process { pid, parent, name: String::new(), words: Vec::new() };
        let all = vec![process(1, 0), process(5, 1), process(9, 5), process(6, 1), process(10, 9)];
        let left: Vec<i32> = others(all, 9).into_iter().map(|process| process.pid).collect();
        assert_eq!(left, [6, 10]);
    }

    #[test]
    fn this_process_is_seen() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(processes().unwrap().iter().any(|process| process.pid == own));
    }
}
