//! Which names an entry means.

use std::fmt;

use crate::Name;

/// One name, or every name below a suffix.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// This name and no other.
    Exact(Name),
    /// `*.suffix`: any depth below the suffix, never the suffix itself. The suffix has at least two labels.
    Below(Name),
}

impl Pattern {
    /// Whether the pattern means this name.
    ///
    /// ```
    /// # use closedbook_policy::{Name, Pattern};
    /// let below = Pattern::Below(Name::parse("example.org")?);
    /// assert!(below.matches(&Name::parse("a.b.example.org")?));
    /// assert!(!below.matches(&Name::parse("example.org")?));
    /// assert!(!below.matches(&Name::parse("evilexample.org")?));
    /// # Ok::<(), closedbook_policy::InvalidName>(())
    /// ```
    pub fn matches(&self, name: &Name) -> bool {
        match self {
            Pattern::Exact(exact) => exact == name,
            Pattern::Below(suffix) => name.is_below(suffix),
        }
    }

    /// Whether every name that `other` means is meant by this pattern too.
    pub fn covers(&self, other: &Pattern) -> bool {
        match (self, other) {
            (_, Pattern::Exact(name)) => self.matches(name),
            (Pattern::Below(mine), Pattern::Below(theirs)) => mine == theirs || theirs.is_below(mine),
            (Pattern::Exact(_), Pattern::Below(_)) => false,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Exact(name) => name.fmt(f),
            Pattern::Below(suffix) => write!(f, "*.{suffix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = String> {
        // Few letters and few labels, so that suffixes are met often.
        proptest::collection::vec("[ab]{1,2}", 1..5).prop_map(|labels| labels.join("."))
    }

    proptest! {
        #[test]
        fn below_is_label_wise(host in name(), suffix in name()) {
            let labels = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
            let (h, s) = (labels(&host), labels(&suffix));
            let expected = h.len() > s.len() && h.ends_with(&s);
            let (host, suffix) = (Name::parse(&host).unwrap(), Name::parse(&suffix).unwrap());
            prop_assert_eq!(Pattern::Below(suffix.clone()).matches(&host), expected);
            prop_assert_eq!(host.is_below(&suffix), expected);
            prop_assert_eq!(Pattern::Exact(suffix.clone()).matches(&host), suffix == host);
        }

        #[test]
        fn a_pattern_that_covers_another_matches_whatever_it_matches(a in name(), b in name(), host in name()) {
            let [a, b, host] = [a, b, host].map(|text| Name::parse(&text).unwrap());
            for wide in [Pattern::Exact(a.clone()), Pattern::Below(a)] {
                for narrow in [Pattern::Exact(b.clone()), Pattern::Below(b.clone())] {
                    if wide.covers(&narrow) && narrow.matches(&host) {
                        prop_assert!(wide.matches(&host), "{wide} {narrow} {host}");
                    }
                }
            }
        }
    }
}
