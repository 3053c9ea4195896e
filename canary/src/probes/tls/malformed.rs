//! Names that are none, and more than one: what two readers read in two ways.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Trial, Want};
use crate::wire::hello::{Hello, extension, server_names};

use super::by_hand;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-sni-malformed",
        group: Group::Tls,
        leak: "names that are no host names: a rule may compare another part of them than the one that is dialled",
        how: "hellos with NUL, blanks, empty labels, `*`, `#` and more in the name, to the witness's address",
        expected: "refused at once",
        sources: &[
            "https://github.com/dotnet/aspnetcore/issues/67721",
            "https://www.penligent.ai/hackinglabs/pt/?p=5317",
            "https://github.com/SkillfulAgents/SuperAgent/issues/1110",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: malformed,
    },
    Probe {
        id: "tls-sni-ip-literal",
        group: Group::Tls,
        leak: "an address in place of the name, which a filter may dial",
        how: "hellos with the address of the witness as their name, in several notations",
        expected: "refused at once",
        sources: &["RFC 6066 section 3"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: addresses,
    },
    Probe {
        id: "tls-sni-multi-name",
        group: Group::Tls,
        leak: "two names in one hello: the filter judges one, and the server takes the other",
        how: "a list of two names, and the extension twice, in both orders, to the witness's address",
        expected: "refused at once, whichever comes first",
        sources: &["RFC 6066 section 3", "RFC 8446 section 4.2"],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: two_names,
    },
];

fn malformed(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign_name();
    let mut variants: Vec<(&str, Vec<u8>, Want)> = vec![
        ("an empty name", Vec::new(), Want::Stopped),
        ("a dot", b".".to_vec(), Want::Stopped),
        ("a star", b"*".to_vec(), Want::Stopped),
        ("a blank", b" ".to_vec(), Want::Stopped),
        ("another name before a NUL", format!("{foreign}\0").into_bytes(), Want::Stopped),
        ("a name that is not ASCII", format!("b\u{fc}cher.{foreign}").into_bytes(), Want::Stopped),
        ("octets that are no text", vec![0xff, 0xfe, b'.', 0xc0, 0x80], Want::Stopped),
        ("a name of 300 octets", [&[b'a'; 299][..], b"."].concat(), Want::Stopped),
        ("a label of 64 octets", format!("{}.{foreign}", "a".repeat(64)).into_bytes(), Want::Stopped),
        ("a name with a port", format!("{foreign}:443").into_bytes(), Want::Stopped),
    ];
    if let Some(host) = trial.https() {
        let name = host.name.as_str();
        let mut add = |what: &'static str, octets: String| {
            variants.push((what, octets.into_bytes(), Want::rewritten(name)));
        };
        add("another name, NUL, the permitted one", format!("{foreign}\0.{name}"));
        add("the permitted name, NUL, another", format!("{name}\0.{foreign}"));
        add("the permitted name and a NUL", format!("{name}\0"));
        add("another name, a hash, the permitted one", format!("{foreign}#.{name}"));
        add("another name, a slash, the permitted one", format!("{foreign}/.{name}"));
        add("another name as user of the permitted one", format!("{foreign}@{name}"));
        add("a dot before the permitted name", format!(".{name}"));
        add("two dots behind the permitted name", format!("{name}.."));
        add("the permitted name with two dots for one", name.replacen('.', "..", 1));
        add("a blank behind the permitted name", format!("{name} "));
        add("a blank before the permitted name", format!(" {name}"));
        add("a line end behind the permitted name", format!("{name}\r\n"));
        add("a star below the permitted name", format!("*.{name}"));
        add("an underscore below the permitted name", format!("_.{name}"));
        add("the permitted name with a port", format!("{name}:443"));
        add("the permitted name with ideographic full stops", name.replace('.', "\u{3002}"));
    }
    let attempts = variants.into_iter().map(|(what, name, want)| {
        by_hand(trial, what, want, move |nonce: &Nonce| Hello::named(&name, nonce).octets())
    });
    let attempts = attempts.collect();
    trial.attempt_all(attempts);
}

fn addresses(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign().ip;
    let mut variants = vec![
        ("an address", foreign.to_string()),
        ("an address with a final dot", format!("{foreign}.")),
        ("an IPv6 address", trial.targets().foreign_v6().ip.to_string()),
        ("an IPv6 address in brackets", format!("[{}]", trial.targets().foreign_v6().ip)),
    ];
    if let std::net::IpAddr::V4(v4) = foreign {
        variants.push(("an address as one number", v4.to_bits().to_string()));
        variants.push(("an address as one hexadecimal number", format!("{:#x}", v4.to_bits())));
    }
    let attempts = variants.into_iter().map(|(what, name)| {
        let octets = move |nonce: &Nonce| Hello::named(name.as_bytes(), nonce).octets();
        by_hand(trial, what, Want::Stopped, octets)
    });
    let attempts = attempts.collect();
    trial.attempt_all(attempts);
}

fn two_names(trial: &mut Trial<'_>) {
    let Some(host) = trial.https() else { return };
    let (own, other) = (host.name.as_bytes(), trial.targets().foreign_name().as_bytes());
    let list = |what, first, second| {
        let octets = move |nonce: &Nonce| {
            let names = server_names(&[first, second]);
            Hello::nameless(nonce).first(extension::SERVER_NAME, names).octets()
        };
        by_hand(trial, what, Want::Stopped, octets)
    };
    let twice = |what, first, second| {
        let octets = move |nonce: &Nonce| {
            let hello = Hello::named(first, nonce);
            hello.with(extension::SERVER_NAME, server_names(&[second])).octets()
        };
        by_hand(trial, what, Want::Stopped, octets)
    };
    let attempts = vec![
        list("a list, the permitted name first", own, other),
        list("a list, the permitted name last", other, own),
        twice("the extension twice, the permitted name first", own, other),
        twice("the extension twice, the permitted name last", other, own),
    ];
    trial.attempt_all(attempts);
}
