//! Programs that ask the DNS.

use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::hosts::{self, UNKNOWN};

use super::aimed;

pub(super) fn dns(name: &str, arguments: &[String]) -> Option<Raw> {
    let mut operands: Vec<&String> =
        arguments.iter().filter(|word| !word.starts_with(['-', '+', '@'])).collect();
    match name {
        "getent" => {
            let base = operands.first().map(|word| word.as_str());
            if !matches!(base, Some("hosts" | "ahosts" | "ahostsv4" | "ahostsv6")) {
                return None;
            }
            operands.remove(0);
        }
        "resolvectl" => {
            if !matches!(
                operands.first().map(|word| word.as_str()),
                Some("query" | "service" | "openpgp" | "tlsa")
            ) {
                return None;
            }
            operands.remove(0);
        }
        // A word of one letter and `dog` may be anything; only with a host are they what they are taken for.
        "q" | "dog" | "host"
            if !operands.iter().any(|word| hosts::looks_like_host(word) || word.contains(UNKNOWN)) =>
        {
            return None;
        }
        _ => {}
    }
    let server = arguments.iter().find_map(|word| word.strip_prefix('@')).and_then(hosts::bare);
    let named: Vec<Option<String>> = operands
        .iter()
        .filter(|word| hosts::looks_like_host(word) || word.contains(UNKNOWN) || operands.len() == 1)
        .map(|word| hosts::bare(word))
        .chain(server.map(Some))
        .collect();
    if named.is_empty() || named.iter().all(|host| host.as_deref().is_some_and(hosts::is_here)) {
        return None;
    }
    Some(aimed(Kind::Dns, name, arguments, named)).map(|mut raw| {
        raw.kind = Kind::Dns;
        raw
    })
}
