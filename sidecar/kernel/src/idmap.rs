//! User and group id maps of a new user namespace (user_namespaces(7)).

use std::fmt::Write as _;
use std::fs;
use std::io;

use nix::unistd::{Pid, getegid, geteuid};
use thiserror::Error;

use crate::privileges::may_change_user;

/// Which ids exist in a new user namespace, and what they are outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdMaps {
    users: Vec<Range>,
    groups: Vec<Range>,
    setgroups: Setgroups,
}

/// `count` ids from `inside` on are those from `outside` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    inside: u32,
    outside: u32,
    count: u32,
}

/// Whether setgroups(2) works inside. Without privilege outside it must be denied before the group map is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setgroups {
    Allow,
    Deny,
}

/// Why the maps were not written.
#[derive(Debug, Error)]
#[error("can't write {file}")]
pub struct IdMapError {
    file: String,
    #[source]
    source: io::Error,
}

impl IdMaps {
    /// Everybody stays who they are: all ids where this process may map them, else its own alone.
    pub fn identity() -> io::Result<Self> {
        if may_change_user() {
            return Ok(Self {
                users: all_mapped("/proc/self/uid_map")?,
                groups: all_mapped("/proc/self/gid_map")?,
                setgroups: Setgroups::Allow,
            });
        }
        let one = |id| vec![Range { inside: id, outside: id, count: 1 }];
        Ok(Self {
            users: one(geteuid().as_raw()),
            groups: one(getegid().as_raw()),
            setgroups: Setgroups::Deny,
        })
    }

    /// This process is root inside; `nobody` exists too where this process may map it, so that root can step down.
    pub fn root_inside() -> Self {
        let mut users = vec![Range { inside: 0, outside: geteuid().as_raw(), count: 1 }];
        let mut groups = vec![Range { inside: 0, outside: getegid().as_raw(), count: 1 }];
        if !may_change_user() {
            return Self { users, groups, setgroups: Setgroups::Deny };
        }
        let nobody = Range { inside: NOBODY, outside: NOBODY, count: 1 };
        users.push(nobody);
        groups.push(nobody);
        Self { users, groups, setgroups: Setgroups::Allow }
    }

    /// Writes the maps for a process that is in a new user namespace and waits for them.
    pub fn write(&self, pid: Pid) -> Result<(), IdMapError> {
        if self.setgroups == Setgroups::Deny {
            put(format!("/proc/{pid}/setgroups"), "deny")?;
        }
        put(format!("/proc/{pid}/uid_map"), &text(&self.users))?;
        put(format!("/proc/{pid}/gid_map"), &text(&self.groups))
    }
}

/// The id that owns nothing, by convention on every Linux.
pub const NOBODY: u32 = 65534;

/// The ids that exist in this process's own user namespace, each as itself.
fn all_mapped(file: &str) -> io::Result<Vec<Range>> {
    parse_mapped(&fs::read_to_string(file)?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{file} is not an id map")))
}

/// Whether this process may become `nobody`: with the capabilities for it, in a namespace where that id exists.
pub fn may_become_nobody() -> bool {
    let exists = |file| {
        all_mapped(file).is_ok_and(|ranges| {
            ranges.iter().any(|r| (r.inside..=r.inside.saturating_add(r.count - 1)).contains(&NOBODY))
        })
    };
    may_change_user() && exists("/proc/self/uid_map") && exists("/proc/self/gid_map")
}

fn parse_mapped(map: &str) -> Option<Vec<Range>> {
    map.lines()
        .map(|line| {
            let mut numbers = line.split_whitespace().map(|number| number.parse::<u32>().ok());
            let (inside, _outside, count) = (numbers.next()??, numbers.next()??, numbers.next()??);
            (count > 0).then_some(Range { inside, outside: inside, count })
        })
        .collect()
}

fn text(ranges: &[Range]) -> String {
    ranges.iter().fold(String::new(), |mut text, Range { inside, outside, count }| {
        let _ = writeln!(text, "{inside} {outside} {count}");
        text
    })
}

fn put(file: String, text: &str) -> Result<(), IdMapError> {
    fs::write(&file, text).map_err(|source| IdMapError { file, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_of_the_own_namespace_is_mapped_to_itself() {
        let map = "         0          0 4294967295\n";
        assert_eq!(parse_mapped(map), Some(vec![Range { inside: 0, outside: 0, count: u32::MAX }]));
        // Inside a container with shifted ids: what counts is the id as seen here.
        let shifted = "0 100000 65536\n70000 300000 10\n";
        let ranges = parse_mapped(shifted).expect("a map");
        assert_eq!(text(&ranges), "0 0 65536\n70000 70000 10\n");
    }

    #[test]
    fn a_map_that_makes_no_sense_is_refused() {
        assert_eq!(parse_mapped("0 0"), None);
        assert_eq!(parse_mapped("a b c"), None);
    }
}
