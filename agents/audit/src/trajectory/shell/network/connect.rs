//! Programs that connect to a host and a port, as `nc` does.

use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::hosts::{self, UNKNOWN};

use super::super::commands::joined;
use super::aimed;
use super::operands::operands;

/// Kinds of `socat`'s addresses that connect.
const SOCAT_CONNECTS: &[&str] = &[
    "tcp",
    "tcp4",
    "tcp6",
    "udp",
    "udp4",
    "udp6",
    "openssl",
    "ssl",
    "proxy",
    "socks4",
    "socks4a",
    "socks5",
    "sctp",
    "tcp-connect",
    "tcp4-connect",
    "tcp6-connect",
    "udp-connect",
    "openssl-connect",
    "udp-sendto",
];

pub(super) fn connect(name: &str, arguments: &[String]) -> Option<Raw> {
    if name == "socat" {
        let aims: Vec<Option<String>> = arguments
            .iter()
            .filter_map(|word| {
                let (kind, rest) = word.split_once(':')?;
                let kind = kind.to_ascii_lowercase();
                SOCAT_CONNECTS.contains(&kind.as_str()).then(|| hosts::bare(rest))
            })
            .collect();
        let away = aims.iter().any(|host| !host.as_deref().is_some_and(hosts::is_here));
        return away.then(|| aimed(Kind::NetworkCommand, name, arguments, aims));
    }
    let listens = arguments.iter().any(|word| {
        word == "--listen" || (word.starts_with('-') && !word.starts_with("--") && word.contains('l'))
    });
    let unix =
        arguments.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('U'));
    if matches!(name, "nc" | "ncat" | "netcat" | "nc.openbsd" | "nc.traditional") && (listens || unix) {
        return None;
    }
    if matches!(name, "iperf" | "iperf3") && arguments.iter().any(|word| word == "-s") {
        return None;
    }
    // Numbers are ports, counts and times.
    let operand = operands(name, arguments).into_iter().find(|word| word.parse::<f64>().is_err());
    let host = operand.and_then(|word| hosts::bare(word));
    if host.as_deref().is_some_and(hosts::is_here)
        || operand.is_none() && !joined(arguments).contains(UNKNOWN)
    {
        return None;
    }
    Some(aimed(Kind::NetworkCommand, name, arguments, vec![host]))
}

pub(super) fn openssl(arguments: &[String]) -> Vec<Raw> {
    let Some(verb) = arguments.first().filter(|verb| matches!(verb.as_str(), "s_client" | "s_time" | "ocsp"))
    else {
        return Vec::new();
    };
    let mut words =
        arguments.iter().skip_while(|word| !matches!(word.as_str(), "-connect" | "-host" | "-url"));
    let operand = words.nth(1).or_else(|| arguments.iter().skip(1).find(|word| hosts::looks_like_host(word)));
    let host = operand.and_then(|word| hosts::bare(word));
    if host.as_deref().is_some_and(hosts::is_here) || verb == "ocsp" && operand.is_none() {
        return Vec::new();
    }
    vec![aimed(Kind::NetworkCommand, &format!("openssl {verb}"), arguments, vec![host])]
}
