//! Large hellos: of clients that are ahead of their time, and of those that want to be too large to be read.

use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::{Hello, extension, server_names};
use crate::wire::large::Share;
use crate::wire::tls;

use super::{by_hand, permitted, reached, refused, shaped};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-hello-pq-large",
        group: Group::Tls,
        leak: "none of its own: a hello with a post-quantum key share takes two segments, and must work as any other",
        how: "a key share as large as X25519MLKEM768's, for the permitted name and for another",
        expected: "the permitted host answers, the other is refused",
        sources: &[
            "https://github.com/envoyproxy/envoy/issues/33850",
            "https://github.com/cloudflare/cloudflare-docs/issues/18165",
        ],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: WITHIN,
        run: post_quantum,
    },
    Probe {
        id: "tls-hello-8k-16k-64k",
        group: Group::Tls,
        leak: "a hello too large for the filter's buffer, which then takes it for no TLS at all and lets it pass",
        how: "hellos of 9 to 64 KiB for a name that is not allowed, the name before the padding and behind it",
        expected: "refused at once; the permitted host answers up to 9 KiB",
        sources: &[
            "https://github.com/envoyproxy/envoy/issues/40728",
            "https://github.com/envoyproxy/envoy/issues/41477",
            "https://github.com/envoyproxy/envoy/issues/40911",
            "https://github.com/envoyproxy/envoy/issues/39903",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: WITHIN,
        run: too_large,
    },
];

const WITHIN: Duration = Duration::from_secs(30);

fn post_quantum(trial: &mut Trial<'_>) {
    const HOW: &str = "with a post-quantum key share";
    let Some(host) = trial.https() else { return };
    let targets = trial.targets();
    let (foreign, other) = (targets.foreign(), targets.foreign_name());
    let to = foreign.port(443);
    let options = with_share(trial, Share::PostQuantum);
    let again = options.clone();
    let own = reached(trial, &host.name, None, options);
    let get = move |nonce: &Nonce| shaped(to, other, None, &again, nonce);
    trial.attempt_all(vec![
        Attempt::new(permitted(HOW), &host.name, Want::reached(&host.name), own),
        Attempt::new(refused(HOW), to, Want::Stopped, get).nowhere(foreign.nowhere).beside(permitted(HOW)),
    ]);
}

fn too_large(trial: &mut Trial<'_>) {
    let other = trial.targets().foreign_name().as_bytes();
    let mut attempts = Vec::new();
    for (size, padding) in
        [("9 KiB", 9 << 10), ("17 KiB", 17 << 10), ("33 KiB", 33 << 10), ("64 KiB", 65_000)]
    {
        let padded = move |nonce: &Nonce| Hello::nameless(nonce).with(extension::PADDING, vec![0; padding]);
        let before =
            move |nonce: &Nonce| padded(nonce).first(extension::SERVER_NAME, server_names(&[other])).octets();
        let behind =
            move |nonce: &Nonce| padded(nonce).with(extension::SERVER_NAME, server_names(&[other])).octets();
        attempts.push(by_hand(trial, refused(format!("before {size} of padding")), Want::Stopped, before));
        attempts.push(by_hand(trial, refused(format!("behind {size} of padding")), Want::Stopped, behind));
        let nobody = move |nonce: &Nonce| padded(nonce).octets();
        attempts.push(by_hand(trial, format!("no name in {size}"), Want::Stopped, nobody));
    }
    if let Some(host) = trial.https() {
        let get = reached(trial, &host.name, None, with_share(trial, Share::NineKib));
        attempts.push(Attempt::new(permitted("in 9 KiB"), &host.name, Want::reached(&host.name), get));
        // Beyond, a server may have limits of its own, and only a witness can say who refused it.
        if trial.targets().own_hosts {
            let get = reached(trial, &host.name, None, with_share(trial, Share::FifteenKib));
            attempts.push(Attempt::new(permitted("in 15 KiB"), &host.name, Want::rewritten(&host.name), get));
        }
    }
    trial.attempt_all(attempts);
}

fn with_share(trial: &Trial<'_>, share: Share) -> tls::Options {
    tls::Options { share: Some(share), ..tls::Options::ordinary(trial.targets().trust.as_deref()) }
}
