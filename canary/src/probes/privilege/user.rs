//! The user by which a filter lets its own proxy pass.

use std::collections::BTreeSet;
use std::fs;

use nix::unistd::{Gid, Uid, setfsgid, setfsuid};

use super::WayOut;
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Lasting, Trial, Want};
use crate::wire::series::Series;

/// Users that proxies run as.
const KNOWN: [(u32, &str); 12] = [
    (13, "proxy of Debian"),
    (23, "squid of Red Hat"),
    (31, "squid of Alpine"),
    (33, "www-data"),
    (101, "nginx and Envoy images"),
    (1001, "Bitnami images"),
    (1337, "Istio"),
    (2102, "Linkerd"),
    (5678, "Kuma"),
    (65532, "distroless nonroot"),
    (65534, "nobody"),
    (0, "root"),
];
/// Users of /etc/passwd that are tried.
const MOST: usize = 64;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "priv-proxy-uid",
    group: Group::Priv,
    leak: "running as the user that is exempted: CAP_SETUID is enough, and Docker gives it",
    how: "a request and a datagram to the witness, as the users and groups that proxies run as, and as each of /etc/passwd",
    expected: "the user can't be had, or is no exemption",
    sources: &[
        "https://github.com/darkk/redsocks/issues/58",
        "https://github.com/hivecommons/hive/issues/2696",
        "setfsuid(2)",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: std::time::Duration::from_secs(20),
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let way = &WayOut::of(trial.targets());
    let mut attempts: Vec<Attempt<'_>> = KNOWN
        .into_iter()
        .map(|(user, whose)| {
            let what = format!("as user {user} ({whose})");
            Attempt::lasting(what, way.web, Want::Stopped, move |nonce| as_user(user, way, nonce).end())
        })
        .collect();
    // One try for all of them: another image has others, and a baseline is the same try.
    attempts.push(Attempt::lasting("as each user of /etc/passwd", way.web, Want::Stopped, |nonce| {
        as_each(&users(&fs::read_to_string("/etc/passwd").unwrap_or_default()), way, nonce)
    }));
    trial.attempt_all(attempts.into_iter().map(|attempt| attempt.nowhere(way.nowhere)).collect());
}

fn as_each(users: &BTreeSet<u32>, way: &WayOut, nonce: &Nonce) -> Lasting {
    let mut series = Series::new();
    // An image without the file has root all the same.
    let root = BTreeSet::from([0]);
    for user in if users.is_empty() { &root } else { users } {
        let Lasting { seen, slowest } = as_user(*user, way, nonce).end();
        if !series.note(seen, slowest.unwrap_or_default()) {
            break;
        }
    }
    series.end()
}

/// What rules look at is the user for file access of the thread that made the socket (nft(8) skuid; a routing rule's
/// uidrange): that can be changed for one thread, and is gone with it.
fn as_user(user: u32, way: &WayOut, nonce: &Nonce) -> Series {
    let attempt = || {
        let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
        // They tell what was before, and nothing else: a second call tells whether the first one worked.
        setfsgid(gid);
        setfsuid(uid);
        if setfsgid(gid) != gid || setfsuid(uid) != uid {
            let mut series = Series::new();
            series.go_on(|| Seen::Denied { call: "setfsuid".to_owned(), errno: "EPERM".to_owned() });
            return series;
        }
        way.both(nonce)
    };
    std::thread::scope(|scope| match scope.spawn(attempt).join() {
        Ok(series) => series,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

fn users(passwd: &str) -> BTreeSet<u32> {
    passwd.lines().filter_map(|line| line.split(':').nth(2)?.parse().ok()).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_read() {
        let text = "root:x:0:0:root:/root:/bin/sh\nnonsense\nproxy:x:13:13::/bin:/bin/false\n";
        assert_eq!(users(text), BTreeSet::from([0, 13]));
    }
}
