//! Programs that fetch what they are given, as `curl` does.

use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::hosts::{self, UNKNOWN};

use super::super::commands::joined;
use super::aimed;
use super::operands::operands;

pub(super) fn fetch(name: &str, arguments: &[String]) -> Option<Raw> {
    let whole = joined(arguments);
    let mut aims: Vec<Option<String>> = hosts::urls(&whole).map(|url| url.host()).collect();
    let operands = operands(name, arguments);
    let mut local_file = false;
    for word in &operands {
        if word.contains("://") {
            local_file |= word.starts_with("file://");
            continue;
        }
        if word.contains(UNKNOWN) {
            aims.push(None);
        } else if hosts::looks_like_host(word) || matches!(name, "ftp" | "lftp" | "tftp") {
            aims.push(hosts::bare(word));
        } else if let Some((host, _)) =
            word.split_once([':', '/']).filter(|(host, _)| !host.is_empty() && *host != "." && *host != "..")
        {
            // `registry:5000`, `intranet/x`
            if name == "curl" || name.starts_with("wget") || name.starts_with("http") {
                aims.push(hosts::bare(host));
            }
        } else if matches!(name, "curl" | "wget" | "wget2") {
            aims.push(hosts::bare(word));
        }
    }
    let from_file = arguments
        .iter()
        .any(|word| matches!(word.as_str(), "-K" | "--config" | "-i" | "--input-file" | "--url"))
        && aims.is_empty();
    if aims.is_empty() && !from_file {
        if local_file || operands.is_empty() {
            return None;
        }
        if !matches!(name, "curl" | "wget" | "wget2" | "aria2c" | "axel") {
            return None;
        }
        aims.push(None);
    }
    if !aims.is_empty()
        && aims.iter().all(|host| host.as_deref().is_some_and(hosts::is_here))
        && !uses_proxy(arguments)
    {
        return None;
    }
    Some(aimed(Kind::NetworkCommand, name, arguments, aims))
}

/// `curl -x proxy http://localhost` goes to the proxy.
fn uses_proxy(arguments: &[String]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(
            word.as_str(),
            "-x" | "--proxy" | "--socks5" | "--socks5-hostname" | "--connect-to" | "--resolve"
        ) {
            let value = words.next().map(String::as_str).unwrap_or_default();
            return !hosts::bare(value).is_some_and(|host| hosts::is_here(&host));
        }
    }
    false
}
