use super::*;

fn list(names: &[&str]) -> Vec<At<String>> {
    names.iter().map(|name| At::new((*name).to_owned(), Spot::default())).collect()
}

fn held(rules: Rules, add: &[&str], drop: &[&str]) -> Vec<&'static str> {
    Capabilities::by(rules, &list(add), &list(drop)).held.keys().copied().collect()
}

/// What each engine makes of additions and removals; Docker's as its own code orders them.
#[test]
fn additions_and_removals_as_each_engine_counts_them() {
    use Rules::{Cri, Docker, Podman};
    let has = |rules, add: &[&str], drop: &[&str], name| held(rules, add, drop).contains(&name);
    for (rules, add, drop, name, expected) in [
        (Docker, &[][..], &[][..], "NET_RAW", true),
        (Podman, &[], &[], "NET_RAW", false),
        (Cri, &[], &[], "NET_RAW", true),
        (Docker, &[], &["net_raw"], "NET_RAW", false),
        (Docker, &[], &["CAP_NET_RAW"], "NET_RAW", false),
        (Docker, &[], &["all"], "CHOWN", false),
        (Docker, &["NET_ADMIN"], &["ALL"], "NET_ADMIN", true),
        (Docker, &["NET_ADMIN"], &["ALL"], "NET_RAW", false),
        // Both all: everything is held.
        (Docker, &["ALL"], &["ALL"], "SYS_ADMIN", true),
        (Docker, &["ALL"], &["NET_RAW"], "NET_RAW", false),
        (Docker, &["NET_RAW"], &["NET_RAW"], "NET_RAW", true),
        (Podman, &["NET_RAW"], &["ALL"], "NET_RAW", true),
        (Podman, &["ALL"], &[], "BPF", true),
        (Cri, &["NET_ADMIN"], &["NET_ADMIN"], "NET_ADMIN", false),
        (Cri, &["ALL"], &["ALL"], "CHOWN", false),
        (Cri, &["NET_RAW"], &["ALL"], "NET_RAW", true),
        (Cri, &["CAP_NET_ADMIN"], &[], "NET_ADMIN", true),
        // Nothing is dropped by a name with the prefix there.
        (Cri, &[], &["CAP_NET_RAW"], "NET_RAW", true),
    ] {
        assert_eq!(has(rules, add, drop, name), expected, "{rules:?} +{add:?} -{drop:?} {name}");
    }
}

#[test]
fn names_that_nobody_has_are_kept() {
    let set = Capabilities::by(Rules::Docker, &list(&["NET_ADMN", "${X}"]), &list(&["NETRAW", " net_raw "]));
    let unknown: Vec<&str> = set.unknown.iter().map(|name| name.value.as_str()).collect();
    assert_eq!(unknown, ["NET_ADMN", "${X}", "NETRAW"]);
    assert!(!set.held.contains_key("NET_RAW"));
}

#[test]
fn the_names_are_linuxs() {
    let names: std::collections::BTreeSet<&str> = ALL.into_iter().collect();
    assert_eq!(names.len(), 41);
    assert!(DOCKER.iter().chain(&PODMAN).all(|name| names.contains(name)));
    assert_eq!((ALL[12], ALL[13], ALL[21], ALL[39]), ("NET_ADMIN", "NET_RAW", "SYS_ADMIN", "BPF"));
}
