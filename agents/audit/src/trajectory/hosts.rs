//! Addresses in texts, and the hosts in them.

/// Stands for what can't be known: the value of a variable, the output of a program.
pub(crate) const UNKNOWN: char = '\u{f8ff}';

const SCHEMES: [&str; 16] = [
    "http",
    "https",
    "ftp",
    "ftps",
    "sftp",
    "ssh",
    "git",
    "git+https",
    "git+http",
    "git+ssh",
    "ws",
    "wss",
    "rsync",
    "svn",
    "hf",
    "s3",
];

/// The longest address that is read.
const LONGEST: usize = 4096;

/// An address in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Url<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    authority: &'a str,
}

impl Url<'_> {
    /// The host in lower case; `None` when it can't be known.
    pub(crate) fn host(&self) -> Option<String> {
        let host = self.authority.rsplit_once('@').map_or(self.authority, |(_, host)| host);
        let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => host.split_once(':').map_or(host, |(host, _)| host),
        };
        tidy(host)
    }

    /// Whether it leads to this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.host().is_some_and(|host| is_here(&host))
    }
}

fn tidy(host: &str) -> Option<String> {
    let host = host.trim_end_matches('.').to_lowercase();
    let known = !host.is_empty()
        && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%'));
    known.then_some(host)
}

/// Every address with a scheme that leads over a network.
pub(crate) fn urls(text: &str) -> impl Iterator<Item = Url<'_>> {
    text.match_indices("://").filter_map(move |(mark, _)| {
        let before = text.get(..mark)?;
        let letters = |b: &u8| b.is_ascii_alphanumeric() || *b == b'+';
        // A scheme has few letters; looking no further keeps a long text from being read again and again.
        let length = before.bytes().rev().take(12).take_while(letters).count();
        let mut at = mark - length;
        let scheme = before.get(at..)?.to_ascii_lowercase();
        if !SCHEMES.contains(&scheme.as_str()) {
            // `xhttps://` is one too, for whatever cuts it out.
            let known =
                SCHEMES.iter().filter(|known| scheme.ends_with(**known)).max_by_key(|known| known.len())?;
            at = mark - known.len();
        }
        let rest = beginning(text.get(mark + 3..)?);
        let authority_end = rest.find(|c: char| ends_authority(c)).unwrap_or(rest.len());
        let end = rest.find(|c: char| ends_url(c)).unwrap_or(rest.len());
        let authority = rest.get(..authority_end.min(end))?;
        // `"https://"` is the beginning of an address that is put together elsewhere.
        (!authority.is_empty()).then(|| Url {
            text: text.get(at..mark + 3 + end).unwrap_or_default(),
            at,
            authority,
        })
    })
}

/// As much of a text as an address has: what is longer is read no further.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn ends_url(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '"' | '\'' | '<' | '>' | ')' | '`' | '\\' | '|' | ';' | '}' | '^')
}

fn ends_authority(c: char) -> bool {
    ends_url(c) || matches!(c, '/' | '?' | '#' | ',' | '(' | '&')
}

/// Addresses that lead away from this machine.
pub(crate) fn outside(text: &str) -> impl Iterator<Item = Url<'_>> {
    urls(text).filter(|url| !url.is_here())
}

/// Whether an address is the name of a schema, which nothing is read from.
pub(crate) fn is_namespace(address: &str) -> bool {
    const NAMES: &[&str] = &[
        "http://www.w3.org/",
        "https://www.w3.org/",
        "http://schemas.",
        "https://schemas.",
        "http://purl.org/",
        "http://json-schema.org/",
        "https://json-schema.org/",
        "http://xmlns.",
        "http://ns.",
    ];
    NAMES.iter().any(|name| address.starts_with(name))
}

/// Their hosts, each once.
pub(crate) fn outside_hosts(text: &str) -> Vec<String> {
    once(outside(text).filter_map(|url| url.host()))
}

/// Each once, in order.
pub(crate) fn once(hosts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    hosts.take(1000).filter(|host| seen.insert(host.clone())).collect()
}

/// Whether a host is this machine.
pub(crate) fn is_here(host: &str) -> bool {
    if host == "localhost" || host.ends_with(".localhost") || host == "0" {
        return true;
    }
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => match address.to_canonical() {
            std::net::IpAddr::V4(v4) => v4.is_loopback() || v4.is_unspecified(),
            std::net::IpAddr::V6(v6) => v6.is_loopback() || v6.is_unspecified(),
        },
        Err(_) => false,
    }
}

/// The host in a word that is an address without a scheme: `example.com/x`, `user@host:path`, `1.2.3.4:80`.
pub(crate) fn bare(word: &str) -> Option<String> {
    if word.contains("://") {
        return urls(word).next()?.host();
    }
    let host = word.split(['/', '?', '#', ',']).next()?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    if host.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some(host.to_owned());
    }
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(host, _)| host),
    };
    let host = tidy(host)?;
    let is_name = host.contains(|c: char| c.is_alphanumeric());
    is_name.then_some(host)
}

/// Whether a word looks like a host name with a domain, or like an address.
pub(crate) fn looks_like_host(word: &str) -> bool {
    let Some(host) = bare(word) else { return false };
    if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok() {
        return true;
    }
    match host.rsplit_once('.') {
        Some((name, top)) => {
            !name.is_empty() && top.len() >= 2 && top.chars().all(char::is_alphabetic) && !is_file_ending(top)
        }
        None => false,
    }
}

/// Endings of file names that no one takes for a domain.
fn is_file_ending(top: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "txt", "json", "html", "htm", "csv", "tsv", "xml", "yaml", "yml", "toml", "log", "gz", "tgz", "bz",
        "xz", "zip", "tar", "pdf", "png", "jpg", "jpeg", "svg", "js", "ts", "css", "cfg", "conf", "ini",
        "out", "tmp", "bin", "deb", "whl", "rds", "md5", "lock",
    ];
    ENDINGS.contains(&top)
}

/// Whether a host keeps other people's code.
pub(crate) fn is_code_host(host: &str) -> bool {
    const HOSTS: &[&str] = &[
        "github.com",
        "githubusercontent.com",
        "github.io",
        "githubassets.com",
        "ghcr.io",
        "gitlab.com",
        "gitlab.io",
        "bitbucket.org",
        "codeberg.org",
        "sr.ht",
        "gitee.com",
        "sourceforge.net",
        "huggingface.co",
        "hf.co",
        "dev.azure.com",
        "visualstudio.com",
        "gitea.com",
        "googlesource.com",
        "savannah.gnu.org",
        "notabug.org",
    ];
    HOSTS
        .iter()
        .any(|known| host == *known || host.strip_suffix(known).is_some_and(|rest| rest.ends_with('.')))
        || host.starts_with("gitlab.")
        || host.starts_with("github.")
        || host.starts_with("git.")
}

#[cfg(test)]
mod tests;
