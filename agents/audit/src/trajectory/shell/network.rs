//! Programs that talk to the network.

use super::super::finding::{Kind, Raw};
use super::super::hosts::{self, UNKNOWN};
use super::commands::{joined, line};

/// What a program is to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Fetches what it is given.
    Fetch,
    /// Connects to a host and a port.
    Connect,
    /// Logs in at a host, or copies from and to it.
    Remote,
    /// Asks the DNS.
    Dns,
    /// Leads another program through a proxy.
    Proxy,
    /// A browser.
    Browser,
    /// A client of some service.
    Service,
}

const PROGRAMS: &[(&str, Role)] = &[
    ("curl", Role::Fetch),
    ("wget", Role::Fetch),
    ("wget2", Role::Fetch),
    ("aria2c", Role::Fetch),
    ("axel", Role::Fetch),
    ("lynx", Role::Fetch),
    ("links", Role::Fetch),
    ("elinks", Role::Fetch),
    ("w3m", Role::Fetch),
    ("http", Role::Fetch),
    ("https", Role::Fetch),
    ("xh", Role::Fetch),
    ("xhs", Role::Fetch),
    ("curlie", Role::Fetch),
    ("hurl", Role::Fetch),
    ("lwp-request", Role::Fetch),
    ("lwp-download", Role::Fetch),
    ("GET", Role::Fetch),
    ("HEAD", Role::Fetch),
    ("POST", Role::Fetch),
    ("fetch", Role::Fetch),
    ("ftp", Role::Fetch),
    ("lftp", Role::Fetch),
    ("ncftp", Role::Fetch),
    ("ncftpget", Role::Fetch),
    ("tftp", Role::Fetch),
    ("yt-dlp", Role::Fetch),
    ("youtube-dl", Role::Fetch),
    ("gdown", Role::Fetch),
    ("httrack", Role::Fetch),
    ("websocat", Role::Fetch),
    ("wscat", Role::Fetch),
    ("grpcurl", Role::Fetch),
    ("zsync", Role::Fetch),
    ("snarf", Role::Fetch),
    ("puf", Role::Fetch),
    ("iwr", Role::Fetch),
    ("irm", Role::Fetch),
    ("Invoke-WebRequest", Role::Fetch),
    ("Invoke-RestMethod", Role::Fetch),
    ("Start-BitsTransfer", Role::Fetch),
    ("curl-config-get", Role::Fetch),
    ("monolith", Role::Fetch),
    ("ab", Role::Fetch),
    ("wrk", Role::Fetch),
    ("ipfs", Role::Service),
    ("nc", Role::Connect),
    ("ncat", Role::Connect),
    ("netcat", Role::Connect),
    ("nc.openbsd", Role::Connect),
    ("nc.traditional", Role::Connect),
    ("socat", Role::Connect),
    ("telnet", Role::Connect),
    ("nmap", Role::Connect),
    ("ping", Role::Connect),
    ("ping6", Role::Connect),
    ("fping", Role::Connect),
    ("hping3", Role::Connect),
    ("traceroute", Role::Connect),
    ("tracepath", Role::Connect),
    ("mtr", Role::Connect),
    ("gnutls-cli", Role::Connect),
    ("tcpconnect", Role::Connect),
    ("iperf", Role::Connect),
    ("iperf3", Role::Connect),
    ("nping", Role::Connect),
    ("whois", Role::Connect),
    ("ntpdate", Role::Connect),
    ("masscan", Role::Connect),
    ("ssh", Role::Remote),
    ("scp", Role::Remote),
    ("sftp", Role::Remote),
    ("rsync", Role::Remote),
    ("mosh", Role::Remote),
    ("sshfs", Role::Remote),
    ("autossh", Role::Remote),
    ("sshpass", Role::Remote),
    ("ssh-copy-id", Role::Remote),
    ("ssh-keyscan", Role::Remote),
    ("rsh", Role::Remote),
    ("dig", Role::Dns),
    ("nslookup", Role::Dns),
    ("host", Role::Dns),
    ("drill", Role::Dns),
    ("kdig", Role::Dns),
    ("delv", Role::Dns),
    ("doggo", Role::Dns),
    ("dog", Role::Dns),
    ("resolvectl", Role::Dns),
    ("systemd-resolve", Role::Dns),
    ("getent", Role::Dns),
    ("adnshost", Role::Dns),
    ("dnsget", Role::Dns),
    ("q", Role::Dns),
    ("proxychains", Role::Proxy),
    ("proxychains4", Role::Proxy),
    ("torsocks", Role::Proxy),
    ("torify", Role::Proxy),
    ("tor", Role::Proxy),
    ("tsocks", Role::Proxy),
    ("ngrok", Role::Proxy),
    ("cloudflared", Role::Proxy),
    ("chisel", Role::Proxy),
    ("openvpn", Role::Proxy),
    ("wg-quick", Role::Proxy),
    ("tailscale", Role::Proxy),
    ("frpc", Role::Proxy),
    ("bore", Role::Proxy),
    ("lt", Role::Proxy),
    ("chromium", Role::Browser),
    ("chromium-browser", Role::Browser),
    ("google-chrome", Role::Browser),
    ("google-chrome-stable", Role::Browser),
    ("chrome", Role::Browser),
    ("chrome-headless-shell", Role::Browser),
    ("firefox", Role::Browser),
    ("firefox-esr", Role::Browser),
    ("brave", Role::Browser),
    ("brave-browser", Role::Browser),
    ("microsoft-edge", Role::Browser),
    ("wkhtmltopdf", Role::Browser),
    ("wkhtmltoimage", Role::Browser),
    ("phantomjs", Role::Browser),
    ("xdg-open", Role::Browser),
    ("open", Role::Browser),
    ("playwright", Role::Browser),
    ("docker", Role::Service),
    ("podman", Role::Service),
    ("skopeo", Role::Service),
    ("crane", Role::Service),
    ("oras", Role::Service),
    ("buildah", Role::Service),
    ("aws", Role::Service),
    ("gcloud", Role::Service),
    ("gsutil", Role::Service),
    ("az", Role::Service),
    ("rclone", Role::Service),
    ("s3cmd", Role::Service),
    ("azcopy", Role::Service),
    ("kaggle", Role::Service),
    ("huggingface-cli", Role::Service),
    ("hf", Role::Service),
    ("ollama", Role::Service),
    ("modelscope", Role::Service),
    ("wandb", Role::Service),
    ("sendmail", Role::Service),
    ("mail", Role::Service),
    ("mutt", Role::Service),
    ("swaks", Role::Service),
    ("msmtp", Role::Service),
    ("smbclient", Role::Service),
    ("mount.nfs", Role::Service),
    ("claude", Role::Service),
    ("codex", Role::Service),
    ("gemini", Role::Service),
    ("opencode", Role::Service),
    ("llm", Role::Service),
    ("sgpt", Role::Service),
    ("aider", Role::Service),
    ("ddgr", Role::Service),
    ("googler", Role::Service),
    ("tldr", Role::Service),
];

/// The program that a name with `*`, `?` or `[` can stand for.
pub(super) fn matching(pattern: &str) -> Option<&'static str> {
    // `*` alone names a file of the folder, and which can't be known.
    if !pattern.contains(|c: char| c.is_alphanumeric()) || pattern.matches('*').count() > 4 {
        return None;
    }
    PROGRAMS.iter().map(|(name, _)| *name).filter(|name| name.len() > 2).find(|name| {
        let pattern: Vec<char> = pattern.chars().take(64).collect();
        let name: Vec<char> = name.chars().collect();
        is_like(&pattern, &name)
    })
}

fn is_like(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            is_like(rest, name) || name.split_first().is_some_and(|(_, after)| is_like(pattern, after))
        }
        (Some(('?', rest)), Some((_, after))) => is_like(rest, after),
        (Some(('[', rest)), Some((c, after))) => {
            let Some(end) = rest.iter().position(|c| *c == ']') else { return false };
            let set = rest.get(..end).unwrap_or_default();
            let negated = matches!(set.first(), Some('!' | '^'));
            (set.contains(c) != negated) && is_like(rest.get(end + 1..).unwrap_or_default(), after)
        }
        (Some((p, rest)), Some((c, after))) => p == c && is_like(rest, after),
        _ => false,
    }
}

/// Whether a program is one of these.
pub(super) fn is_program(name: &str) -> bool {
    PROGRAMS.iter().any(|(known, _)| *known == name)
}

/// `None` if the program is none of these; else what it does, perhaps nothing.
pub(super) fn judge(name: &str, arguments: &[String]) -> Option<Vec<Raw>> {
    if name == "openssl" {
        return Some(openssl(arguments));
    }
    let (_, role) = PROGRAMS.iter().find(|(known, _)| *known == name)?;
    // `http` and `open` are also words that other programs have.
    if only_informs(arguments) {
        return Some(Vec::new());
    }
    let raw = match role {
        Role::Fetch => fetch(name, arguments),
        Role::Connect => connect(name, arguments),
        Role::Remote => remote(name, arguments),
        Role::Dns => dns(name, arguments),
        Role::Proxy => Some(Raw::new(Kind::Proxy, name, &line(name, arguments))),
        Role::Browser => browser(name, arguments),
        Role::Service => service(name, arguments),
    };
    Some(raw.into_iter().collect())
}

/// `--version`, `--help` and nothing to work on.
pub(super) fn only_informs(arguments: &[String]) -> bool {
    let Some(first) = arguments.first() else { return true };
    let informs = |word: &str| {
        matches!(
            word,
            "--version" | "--help" | "-V" | "-h" | "-help" | "--usage" | "--manual" | "version" | "help"
        )
    };
    informs(first) && !arguments.iter().any(|word| word.contains("://") || hosts::looks_like_host(word))
        || arguments.iter().any(|word| word == "--version" || word == "--help")
            && arguments.iter().all(|word| word.starts_with('-'))
}

/// Options of fetching programs whose next word is no address.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-O",
    "-H",
    "-d",
    "-X",
    "-u",
    "-A",
    "-e",
    "-b",
    "-c",
    "-w",
    "-m",
    "-T",
    "-F",
    "-E",
    "-D",
    "-C",
    "-r",
    "-y",
    "-Y",
    "-z",
    "-Q",
    "-t",
    "-P",
    "-a",
    "-U",
    "-S",
    "-q",
    "-n",
    "-l",
    "-i",
    "-p",
    "-s",
    "--output",
    "--header",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--request",
    "--user",
    "--user-agent",
    "--referer",
    "--cookie",
    "--cookie-jar",
    "--write-out",
    "--max-time",
    "--connect-timeout",
    "--retry",
    "--retry-delay",
    "--form",
    "--cert",
    "--key",
    "--cacert",
    "--capath",
    "--dump-header",
    "--upload-file",
    "--limit-rate",
    "--output-dir",
    "--output-document",
    "--timeout",
    "--tries",
    "--post-data",
    "--directory-prefix",
    "--max-filesize",
    "--range",
    "--dir",
    "--split",
];

/// Of those, the ones that stand alone in `curl` or `wget`.
fn stands_alone(name: &str, word: &str) -> bool {
    match name {
        "curl" => matches!(word, "-O" | "-q" | "-n" | "-l" | "-i" | "-p" | "-s" | "-S" | "-a"),
        "wget" => {
            matches!(word, "-c" | "-q" | "-d" | "-m" | "-p" | "-r" | "-N" | "-S" | "-H" | "-b" | "-F" | "-E")
        }
        _ => matches!(word, "-s" | "-q" | "-n" | "-l" | "-p" | "-b" | "-F" | "-d" | "-c"),
    }
}

/// The words that are no option and no option's value.
fn operands<'a>(name: &str, arguments: &'a [String]) -> Vec<&'a String> {
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            operands.push(word);
        } else if WITH_VALUE.contains(&word.as_str()) && !stands_alone(name, word) {
            rest.next();
        }
    }
    operands
}

fn fetch(name: &str, arguments: &[String]) -> Option<Raw> {
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

fn aimed(kind: Kind, name: &str, arguments: &[String], aims: Vec<Option<String>>) -> Raw {
    let away = hosts::once(aims.into_iter().flatten().filter(|host| !hosts::is_here(host)));
    let kind = if away.iter().any(|host| hosts::is_code_host(host)) { Kind::CodeHost } else { kind };
    Raw::new(kind, name, &line(name, arguments)).hosts(away)
}

fn connect(name: &str, arguments: &[String]) -> Option<Raw> {
    if name == "socat" {
        let aims: Vec<Option<String>> = arguments
            .iter()
            .filter_map(|word| {
                let (kind, rest) = word.split_once(':')?;
                let kind = kind.to_ascii_lowercase();
                let connects = [
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
                connects.contains(&kind.as_str()).then(|| hosts::bare(rest))
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

fn remote(name: &str, arguments: &[String]) -> Option<Raw> {
    if name == "sshpass" {
        let at =
            arguments.iter().position(|word| matches!(word.as_str(), "ssh" | "scp" | "sftp" | "rsync"))?;
        let (inner, rest) = arguments.get(at..)?.split_first()?;
        return remote(inner, rest);
    }
    let options = [
        "-i",
        "-p",
        "-P",
        "-l",
        "-o",
        "-F",
        "-J",
        "-L",
        "-R",
        "-D",
        "-W",
        "-w",
        "-b",
        "-c",
        "-e",
        "-m",
        "-S",
        "-E",
        "-O",
        "-Q",
        "-B",
        "-I",
        "-t",
        "--exclude",
        "--include",
        "--rsh",
        "--port",
    ];
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            operands.push(word);
        } else if options.contains(&word.as_str())
            && !(name == "rsync"
                && matches!(
                    word.as_str(),
                    "-l" | "-p"
                        | "-o"
                        | "-c"
                        | "-P"
                        | "-R"
                        | "-b"
                        | "-m"
                        | "-W"
                        | "-S"
                        | "-i"
                        | "-L"
                        | "-D"
                        | "-t"
                ))
        {
            rest.next();
        }
    }
    let aims: Vec<Option<String>> = match name {
        "scp" | "rsync" | "sshfs" => operands
            .iter()
            .filter(|word| {
                let colon = word.find(':');
                word.contains(UNKNOWN) && colon.is_some()
                    || colon.is_some_and(|colon| !word.get(..colon).unwrap_or_default().contains('/'))
            })
            .map(|word| hosts::bare(word))
            .collect(),
        _ => operands.first().map(|word| hosts::bare(word)).into_iter().collect(),
    };
    let away = aims.iter().any(|host| !host.as_deref().is_some_and(hosts::is_here));
    (away && !aims.is_empty()).then(|| aimed(Kind::NetworkCommand, name, arguments, aims))
}

fn dns(name: &str, arguments: &[String]) -> Option<Raw> {
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

fn browser(name: &str, arguments: &[String]) -> Option<Raw> {
    let whole = joined(arguments);
    let away: Vec<Option<String>> = hosts::outside(&whole).map(|url| url.host()).collect();
    if name == "playwright" && arguments.first().is_some_and(|verb| verb == "install") {
        return Some(Raw::new(Kind::PackageInstall, "playwright install", &line(name, arguments)));
    }
    if away.is_empty() {
        return whole
            .contains(UNKNOWN)
            .then(|| Raw::new(Kind::NetworkCommand, name, &line(name, arguments)).likely());
    }
    Some(aimed(Kind::NetworkCommand, name, arguments, away))
}

fn service(name: &str, arguments: &[String]) -> Option<Raw> {
    let verb = arguments.iter().find(|word| !word.starts_with('-')).map(String::as_str).unwrap_or_default();
    let whole = joined(arguments);
    let away = hosts::outside_hosts(&whole);
    if matches!(name, "docker" | "podman" | "buildah") {
        let fetches = matches!(
            verb,
            "pull"
                | "push"
                | "run"
                | "build"
                | "login"
                | "search"
                | "compose"
                | "create"
                | "from"
                | "buildx"
                | "bud"
        );
        return fetches.then(|| {
            Raw::new(Kind::NetworkCommand, format!("{name} {verb}"), &line(name, arguments))
                .hosts(away)
                .likely()
        });
    }
    let quiet = matches!(verb, "configure" | "config" | "list" | "ps" | "info" | "env" | "init");
    (!quiet).then(|| Raw::new(Kind::NetworkCommand, name, &line(name, arguments)).hosts(away).likely())
}

fn openssl(arguments: &[String]) -> Vec<Raw> {
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
