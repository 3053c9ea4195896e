//! Hosts that strangers can write to, or that reach further than themselves.

use super::Concern;
use crate::{Name, Pattern};

/// Each means itself and every name below it.
const HOSTS: &[(Concern, &[&str])] = &[
    (
        Concern::CodeHost,
        &[
            "bitbucket.org",
            "codeberg.org",
            "dev.azure.com",
            "gitea.com",
            "gitee.com",
            "github.com",
            "github.io",
            "githubusercontent.com",
            "gitlab.com",
            "gitlab.io",
            "sourceforge.net",
            "sr.ht",
            "visualstudio.com",
        ],
    ),
    (
        Concern::PackageRegistry,
        &[
            "alpinelinux.org",
            "anaconda.org",
            "archlinux.org",
            "centos.org",
            "cpan.org",
            "cran.r-project.org",
            "crates.io",
            "debian.org",
            "deno.land",
            "docker.io",
            "esm.sh",
            "fedoraproject.org",
            "gcr.io",
            "ghcr.io",
            "hackage.haskell.org",
            "hex.pm",
            "index.golang.org",
            "jsdelivr.net",
            "jsr.io",
            "maven.apache.org",
            "maven.org",
            "metacpan.org",
            "npmjs.com",
            "npmjs.org",
            "nuget.org",
            "packagist.org",
            "pkg.dev",
            "proxy.golang.org",
            "pub.dev",
            "pypi.org",
            "pythonhosted.org",
            "quay.io",
            "registry.k8s.io",
            "rubygems.org",
            "ubuntu.com",
            "unpkg.com",
            "yarnpkg.com",
        ],
    ),
    (
        Concern::SharedStorage,
        &[
            "0x0.st",
            "backblazeb2.com",
            "blob.core.windows.net",
            "box.com",
            "digitaloceanspaces.com",
            "drive.google.com",
            "dropbox.com",
            "dropboxusercontent.com",
            "file.io",
            "firebasestorage.googleapis.com",
            "hf.co",
            "huggingface.co",
            "kaggle.com",
            "linodeobjects.com",
            "pastebin.com",
            "r2.cloudflarestorage.com",
            "r2.dev",
            "s3.amazonaws.com",
            "storage.googleapis.com",
            "transfer.sh",
            "wasabisys.com",
            "zenodo.org",
        ],
    ),
    (
        Concern::SharedHosting,
        &[
            "akamaihd.net",
            "akamaized.net",
            "appspot.com",
            "azureedge.net",
            "azurefd.net",
            "azurewebsites.net",
            "b-cdn.net",
            "cdn.cloudflare.net",
            "cloudfront.net",
            "edgekey.net",
            "fastly.net",
            "firebaseapp.com",
            "fly.dev",
            "glitch.me",
            "herokuapp.com",
            "lhr.life",
            "loca.lt",
            "netlify.app",
            "ngrok-free.app",
            "ngrok-free.dev",
            "ngrok.app",
            "ngrok.dev",
            "ngrok.io",
            "on.aws",
            "onrender.com",
            "pages.dev",
            "railway.app",
            "repl.co",
            "replit.dev",
            "run.app",
            "serveo.net",
            "surge.sh",
            "trycloudflare.com",
            "vercel.app",
            "web.app",
            "workers.dev",
        ],
    ),
    (
        Concern::Telemetry,
        &[
            "amplitude.com",
            "api.honeycomb.io",
            "bugsnag.com",
            "datadoghq.com",
            "datadoghq.eu",
            "google-analytics.com",
            "grafana.net",
            "launchdarkly.com",
            "mixpanel.com",
            "newrelic.com",
            "nr-data.net",
            "posthog.com",
            "rollbar.com",
            "segment.com",
            "segment.io",
            "sentry.io",
            "statsig.com",
            "statsigapi.net",
        ],
    ),
    (
        Concern::Redirector,
        &[
            "allorigins.win",
            "archive.org",
            "archive.ph",
            "archive.today",
            "bing.com",
            "bit.ly",
            "cdn.ampproject.org",
            "duckduckgo.com",
            "google.com",
            "googleusercontent.com",
            "jina.ai",
            "t.co",
            "tinyurl.com",
            "translate.goog",
            "translate.yandex.com",
        ],
    ),
    (
        Concern::DnsOverHttps,
        &[
            "adguard-dns.com",
            "cloudflare-dns.com",
            "controld.com",
            "dns.adguard.com",
            "dns.alidns.com",
            "dns.google",
            "dns.mullvad.net",
            "dns.nextdns.io",
            "dns.sb",
            "dns0.eu",
            "doh.cleanbrowsing.org",
            "doh.opendns.com",
            "doh.pub",
            "one.one.one.one",
            "quad9.net",
        ],
    ),
];

/// Harmless as exact names (a model endpoint, say), shared by strangers as wildcards.
const SUFFIXES: &[(Concern, &str)] = &[
    (Concern::SharedStorage, "amazonaws.com"),
    (Concern::SharedStorage, "core.windows.net"),
    (Concern::SharedStorage, "googleapis.com"),
    (Concern::SharedHosting, "azure.com"),
    (Concern::SharedHosting, "cloudflare.com"),
];

/// Addresses of public resolvers that answer over HTTPS.
pub(super) const RESOLVERS: &[&str] = &[
    "1.0.0.1",
    "1.1.1.1",
    "8.8.4.4",
    "8.8.8.8",
    "9.9.9.9",
    "149.112.112.112",
    "208.67.220.220",
    "208.67.222.222",
    "2001:4860:4860::8888",
    "2001:4860:4860::8844",
    "2606:4700:4700::1111",
    "2606:4700:4700::1001",
    "2620:fe::fe",
];

/// The listed hosts that a pattern permits, or lies within.
pub(super) fn behind(pattern: &Pattern) -> impl Iterator<Item = (Concern, Name)> + '_ {
    let hosts = HOSTS.iter().flat_map(|(concern, hosts)| hosts.iter().map(|host| (*concern, *host)));
    let hosts = hosts.filter_map(named).filter(|(_, host)| meets(pattern, host));
    let suffixes = SUFFIXES.iter().copied().filter_map(named).filter(|(_, suffix)| {
        matches!(pattern, Pattern::Below(mine) if mine == suffix || mine.is_below(suffix) || suffix.is_below(mine))
    });
    hosts.chain(suffixes).chain(bucket(pattern))
}

/// How the pattern and a listed host that it meets lie to each other.
pub(super) fn relation(pattern: &Pattern, host: &Name) -> &'static str {
    match pattern {
        Pattern::Exact(name) if name == host => "this is",
        Pattern::Exact(_) => "this belongs to",
        Pattern::Below(suffix) if suffix == host || suffix.is_below(host) => "these belong to",
        Pattern::Below(_) => "among these is",
    }
}

fn named((concern, host): (Concern, &str)) -> Option<(Concern, Name)> {
    Name::parse(host).ok().map(|host| (concern, host))
}

fn meets(pattern: &Pattern, host: &Name) -> bool {
    match pattern {
        Pattern::Exact(name) => name == host || name.is_below(host),
        Pattern::Below(suffix) => suffix == host || suffix.is_below(host) || host.is_below(suffix),
    }
}

/// `bucket.s3.REGION.amazonaws.com`: the region stands between, so no suffix says it.
fn bucket(pattern: &Pattern) -> Option<(Concern, Name)> {
    let Pattern::Exact(name) = pattern else { return None };
    let store = name.labels().any(|label| label == "s3" || label.starts_with("s3-"));
    let amazon = Name::parse("amazonaws.com").ok()?;
    let listed = Name::parse("s3.amazonaws.com").ok()?;
    (store && name.is_below(&amazon) && *name != listed && !name.is_below(&listed))
        .then_some((Concern::SharedStorage, amazon))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn the_lists_hold_names_and_addresses_each_once() {
        let listed =
            HOSTS.iter().flat_map(|(_, hosts)| hosts.iter()).chain(SUFFIXES.iter().map(|(_, host)| host));
        let mut seen = std::collections::HashSet::new();
        for host in listed {
            assert_eq!(Name::parse(host).unwrap().as_str(), *host);
            assert!(seen.insert(host), "{host} twice");
        }
        assert!(RESOLVERS.iter().all(|text| text.parse::<IpAddr>().is_ok()));
    }
}
