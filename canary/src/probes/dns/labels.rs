//! Names as a tunnel: long ones, many of them, and those below a suffix that is permitted.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use super::question::{Over, id, own_server};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{dns, raw};

/// Questions of the burst, and how many of them are under way at a time: more would overflow a server's buffer, and take
/// the questions of others with them.
const BURST: u16 = 200;
const AT_ONCE: u16 = 20;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "dns-long-label-rate",
        group: Group::Dns,
        leak: "a tunnel of names: 255 octets in each, and a thousand a second",
        how: "names as long as can be, of one long label and of many short ones, and a burst of 200 questions",
        expected: "answered here at once, each of them; nothing arrives",
        sources: &["RFC 1035 section 2.3.4", "https://attack.mitre.org/techniques/T1071/004/"],
        needs: &[Need::WitnessZone],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: long_and_many,
    },
    Probe {
        id: "dns-subdomain-of-wildcard",
        group: Group::Dns,
        leak: "names below a permitted suffix: their labels go to the name server of whoever has the suffix",
        how: "a name with a nonce below each wildcard entry's suffix",
        expected: "asking sends nothing anywhere",
        sources: &["https://github.com/agentcage/agentcage/issues/216"],
        needs: &[Need::Wildcard, Need::WitnessZone],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: below_a_wildcard,
    },
];

fn long_and_many(trial: &mut Trial<'_>) {
    let server = own_server(trial.around());
    let Some(zone) = trial.targets().zone() else { return };
    let ask = |what: &str, over: Over, label: &'static str| {
        let ask = move |nonce: &Nonce| {
            let name = longest(label, &format!("{}.{zone}", nonce.label()));
            over.ask(server, &dns::question(id(nonce), &name, dns::kind::A))
        };
        Attempt::new(what, server, Want::Stopped, ask)
    };
    let sixty_three = "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0";
    trial.attempt_all(vec![
        ask("the longest labels", Over::Udp, sixty_three),
        ask("the longest labels, over TCP", Over::Tcp, sixty_three),
        ask("the shortest labels", Over::Udp, "a"),
        Attempt::new("a burst", server, Want::Stopped, move |nonce: &Nonce| burst(server, zone, nonce)),
    ]);
}

/// As many of these labels before the name as 253 characters hold.
fn longest(label: &str, name: &str) -> String {
    let mut name = name.to_owned();
    while name.len() + 1 + label.len() <= 253 {
        name = format!("{label}.{name}");
    }
    name
}

/// The first answer that is no denial decides; else the last.
fn burst(server: SocketAddr, zone: &str, nonce: &Nonce) -> Seen {
    let opened = raw::source(server.ip()).and_then(|from| {
        let socket = UdpSocket::bind((from, 0)).and_then(|socket| {
            socket.connect(server)?;
            socket.set_read_timeout(Some(Duration::from_millis(500)))?;
            Ok(socket)
        });
        socket.map_err(|error| Seen::of_error("bind", &error))
    });
    let socket = match opened {
        Ok(socket) => socket,
        Err(seen) => return seen,
    };
    let mut last = Seen::Silence;
    for first in (0..BURST).step_by(usize::from(AT_ONCE)) {
        for number in first..first + AT_ONCE {
            let name = format!("q{number}.{}.{zone}", nonce.label());
            if let Err(error) = socket.send(&dns::question(number, &name, dns::kind::A)) {
                return Seen::of_error("sendto", &error);
            }
        }
        for _ in 0..AT_ONCE {
            last = match dns::receive(&socket) {
                // Some were lost, in a buffer or by a limit: whether the others arrive is the point.
                Seen::Silence if last != Seen::Silence => return last,
                seen => seen,
            };
            if !matches!(&last, Seen::Dns { answers, .. } if answers.is_empty()) {
                return last;
            }
        }
    }
    last
}

fn below_a_wildcard(trial: &mut Trial<'_>) {
    let server = own_server(trial.around());
    let attempts = trial.targets().wildcards.iter().map(|suffix| {
        let ask = move |nonce: &Nonce| {
            let name = format!("{}.{suffix}", nonce.label());
            Over::Udp.ask(server, &dns::question(id(nonce), &name, dns::kind::A))
        };
        Attempt::new(format!("below {suffix}"), server, Want::Unheard, ask)
    });
    trial.attempt_all(attempts.collect());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_as_long_as_it_may_be() {
        let name = longest("a", "n0nce-0123456789abcdef.leak.test");
        assert!(name.len() > 251 && name.len() <= 253, "{}", name.len());
        // Beside its 253 characters a name has the first length and the root.
        assert_eq!(dns::question(0, &name, 1).len(), 12 + name.len() + 2 + 4);
    }
}
