//! Filters that are a matter of the client's good will: a proxy in the environment, a library that is loaded first.

use std::net::{IpAddr, SocketAddr};

use super::WayOut;
use crate::helper::{Environment, Helper, Step};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::series::Series;
use crate::wire::{http, lookup, tcp};

/// Variables that name a proxy.
const VARIABLES: [&str; 6] =
    ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "priv-env-proxy-unset",
        group: Group::Priv,
        leak: "a filter that is a proxy named in the environment: whoever does not ask it is not filtered",
        how: "a child without any environment asks the witness directly; the proxy, if one is named, is asked to relay",
        expected: "refused, and the proxy relays nothing",
        sources: &["https://github.com/nolabs-ai/nono/issues/713"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: environment,
    },
    Probe {
        id: "priv-ld-preload",
        group: Group::Priv,
        leak: "a filter that is a library loaded first: a static program never loads it",
        how: "this program, which loads no library where it is built static, asks the witness by system calls of its own",
        expected: "refused at once",
        sources: &["https://github.com/inclavare-containers/TNG/issues/139", "ld.so(8)"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: preload,
    },
];

fn environment(trial: &mut Trial<'_>) {
    let (way, around) = (WayOut::of(trial.targets()), trial.around());
    let direct = |nonce: &Nonce| without_environment(&way, nonce);
    trial.attempt(
        Attempt::new("without a proxy in the environment", way.web, Want::Stopped, direct)
            .nowhere(way.nowhere),
    );
    trial.attempt(Attempt::new("through the proxy of the environment", way.web, Want::Absent, |nonce| {
        let Some(named) =
            VARIABLES.iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()))
        else {
            return Seen::NotFound;
        };
        match proxy(&named, around) {
            Some(at) => relayed(at, &way, nonce),
            None => Seen::failed("the environment names a proxy whose address can't be told"),
        }
    }));
}

fn preload(trial: &mut Trial<'_>) {
    let way = WayOut::of(trial.targets());
    let ask = |nonce: &Nonce| way.ask(nonce);
    trial.attempt(Attempt::new("TCP by system calls", way.web, Want::Stopped, ask).nowhere(way.nowhere));
    let send = |nonce: &Nonce| way.send(nonce);
    trial
        .attempt(Attempt::new("UDP by system calls", way.datagram, Want::Stopped, send).nowhere(way.nowhere));
}

fn without_environment(way: &WayOut, nonce: &Nonce) -> Seen {
    match Helper::start(Environment::Empty) {
        Ok(mut helper) => helper.attempt(&Step::Ask(way.web, way.name.clone(), nonce.clone())),
        Err(seen) => seen,
    }
}

/// Asks a proxy for what it must not give: by a whole URL, and by a tunnel (RFC 9110 section 9.3.6).
fn relayed(at: SocketAddr, way: &WayOut, nonce: &Nonce) -> Seen {
    let fields = format!("Host: {}\r\nConnection: close\r\n", way.name);
    let url = http::request("GET", &format!("http://{}/canary?nonce={nonce}", way.name), &fields, nonce);
    let tunnel = http::request("CONNECT", &format!("{}:443", way.name), &fields, nonce);
    let mut series = Series::new();
    if series.go_on(|| tcp::exchange(at, &url, nonce).led_nowhere()) {
        series.go_on(|| tcp::exchange(at, &tunnel, nonce).led_nowhere());
    }
    series.seen()
}

/// `http://user@host:port/`, `host:port`.
fn proxy(text: &str, around: &Surroundings) -> Option<SocketAddr> {
    let (host, port) = host_and_port(text)?;
    let ip: IpAddr = match host.parse() {
        Ok(ip) => ip,
        Err(_) => *lookup::addresses(&host, around).ok()?.first()?,
    };
    Some(SocketAddr::new(ip, port))
}

fn host_and_port(text: &str) -> Option<(String, u16)> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split('/').next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match authority.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') => {
            Some((host.trim_matches(['[', ']']).to_owned(), port.parse().ok()?))
        }
        _ => Some((authority.to_owned(), 80)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_named_in_many_ways() {
        for (text, host, port) in [
            ("http://proxy:3128/", "proxy", 3128),
            ("http://u:p@10.0.0.1:8080", "10.0.0.1", 8080),
            ("socks5h://[::1]:1080", "::1", 1080),
            ("proxy", "proxy", 80),
        ] {
            assert_eq!(host_and_port(text), Some((host.to_owned(), port)), "{text}");
        }
        assert_eq!(host_and_port("http://proxy:none/"), None);
    }
}
