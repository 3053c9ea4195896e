//! The permitted name in another spelling, and names that look like it.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::targets::Targets;
use crate::trial::{Trial, Want};
use crate::wire::hello::Hello;

use super::by_hand;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-sni-case-dot",
        group: Group::Tls,
        leak: "the permitted name in capitals or with a final dot: one rule knows it as permitted, another does not check it",
        how: "hellos with such names to the witness's address",
        expected: "the same verdict as for the plain name: the permitted host at its own address, or nothing",
        sources: &["https://github.com/netty/netty-tcnative/issues/400", "RFC 6066 section 3", "RFC 4343"],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: case_and_dot,
    },
    Probe {
        id: "tls-sni-suffix-confusion",
        group: Group::Tls,
        leak: "names that begin or end like the permitted one, where names are compared as text and not label by label",
        how: "hellos with such names to the witness's address",
        expected: "refused at once",
        sources: &["https://cvereports.com/reports/CVE-2026-24052"],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: look_alikes,
    },
];

fn case_and_dot(trial: &mut Trial<'_>) {
    let Some(host) = trial.https() else { return };
    let capitals = host.name.to_ascii_uppercase();
    let mixed: String = host
        .name
        .char_indices()
        .map(|(at, letter)| if at % 2 == 0 { letter.to_ascii_uppercase() } else { letter })
        .collect();
    let variants = [
        ("in capitals", capitals.clone()),
        ("in capitals here and there", mixed),
        ("with a final dot", format!("{}.", host.name)),
        ("in capitals with a final dot", format!("{capitals}.")),
    ];
    let attempts = variants.map(|(what, name)| {
        let octets = move |nonce: &Nonce| Hello::named(name.as_bytes(), nonce).octets();
        by_hand(trial, format!("the permitted name {what}"), Want::rewritten(&host.name), octets)
    });
    trial.attempt_all(attempts.into());
}

fn look_alikes(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let Some(host) = trial.https() else { return };
    // Below the zone, where there is one: a filter that looks the name up has to find it.
    let (name, foreign) = (host.name.as_str(), targets.zone().unwrap_or(targets.foreign_name()));
    let variants = [
        ("the permitted name with letters before it", format!("evil{name}")),
        ("the permitted name with letters and a hyphen before it", format!("evil-{name}")),
        ("the permitted name as labels of another", format!("{name}.{foreign}")),
        ("the permitted name with letters behind it", format!("{name}x")),
        ("the permitted name without its first letter", name.chars().skip(1).collect()),
        ("the permitted name without its last letter", name.chars().take(name.len() - 1).collect()),
        ("a name below the permitted one", format!("below.{name}")),
        (
            "the name above the permitted one",
            name.split_once('.').map_or(name, |(_, above)| above).to_owned(),
        ),
        ("the permitted name with a hyphen for each dot", name.replace('.', "-")),
    ];
    let attempts =
        variants.into_iter().filter(|(_, variant)| !is_permitted(variant, targets)).map(|(what, variant)| {
            let octets = move |nonce: &Nonce| Hello::named(variant.as_bytes(), nonce).octets();
            by_hand(trial, what, Want::Stopped, octets)
        });
    let attempts = attempts.collect();
    trial.attempt_all(attempts);
}

/// Whether the policy permits this name after all: by another entry, or by a wildcard.
fn is_permitted(name: &str, targets: &Targets) -> bool {
    let below = |suffix: &String| name.strip_suffix(suffix.as_str()).is_some_and(|rest| rest.ends_with('.'));
    targets.permitted.iter().any(|host| host.name == name) || targets.wildcards.iter().any(below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::Permitted;

    #[test]
    fn what_a_wildcard_permits_is_no_look_alike() {
        let permitted = vec![Permitted { name: "a.example".to_owned(), https: true, http: false }];
        let targets = Targets { permitted, wildcards: vec!["example.org".to_owned()], ..Targets::default() };
        for (name, expected) in [
            ("a.example", true),
            ("b.a.example", false),
            ("evilapi.example.org", true),
            ("example.org", false),
            ("evilexample.org", false),
        ] {
            assert_eq!(is_permitted(name, &targets), expected, "{name}");
        }
    }
}
