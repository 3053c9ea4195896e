//! The catalogue: one file for each technique or small family, one folder for each group.

mod allow;
mod client;
mod dns;
mod http;
mod ip6;
mod l4;
mod life;
mod local;
mod privilege;
mod proto;
mod tls;
mod udp;

use crate::probe::Probe;

/// Every probe there is, in the order of reports.
pub fn catalogue() -> impl Iterator<Item = &'static Probe> {
    [
        allow::PROBES,
        tls::PROBES,
        http::PROBES,
        proto::PROBES,
        dns::PROBES,
        udp::PROBES,
        l4::PROBES,
        ip6::PROBES,
        privilege::PROBES,
        life::PROBES,
        local::PROBES,
        client::PROBES,
    ]
    .into_iter()
    .flatten()
    .copied()
    .flatten()
}

/// The probe of this id.
pub fn find(id: &str) -> Option<&'static Probe> {
    catalogue().find(|probe| probe.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Ids are stable words: group first, none twice, and everything is said of each.
    #[test]
    fn the_catalogue_is_in_order() {
        let mut seen = HashSet::new();
        for probe in catalogue() {
            assert!(seen.insert(probe.id), "{} stands twice", probe.id);
            assert!(probe.id.starts_with(&format!("{}-", probe.group.word())), "{}", probe.id);
            assert!(
                probe
                    .id
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
            for text in [probe.leak, probe.how, probe.expected] {
                assert!(text.len() > 10 && !text.ends_with('.'), "{}: {text:?}", probe.id);
            }
            assert!(!probe.sources.is_empty() && !probe.levels.is_empty(), "{}", probe.id);
        }
    }
}
