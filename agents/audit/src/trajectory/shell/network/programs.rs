//! The programs that talk to the network, by name, and what each is to it.

/// What a program is to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
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

/// What a program is to the network, if it is one of these.
pub(super) fn role(name: &str) -> Option<Role> {
    PROGRAMS.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
}

/// Whether a program is one of these.
pub(in crate::trajectory::shell) fn is_program(name: &str) -> bool {
    role(name).is_some()
}

/// The program that a name with `*`, `?` or `[` can stand for.
pub(in crate::trajectory::shell) fn matching(pattern: &str) -> Option<&'static str> {
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
