//! A whole policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::canonical;
use crate::phase::{LOCKDOWN, PhaseName};
use crate::settings::{DnsAnswers, Ech, PrivateAddresses, RouteTarget, Settings};
use crate::{Digest, Entry, Name, Phase};

/// A policy: phases with their allow lists, and what holds in all of them. Immutable.
///
/// ```
/// # use std::net::SocketAddr;
/// # use closedbook_policy::{Attempt, Evidence, Hello, Name, Policy, Reason};
/// let policy = Policy::from_toml(r#"
///     schema = 1
///     name = "example"
///     [phase.agent]
///     allow = ["api.example.com"]
/// "#)?;
/// let agent = policy.phase("agent").expect("it is defined above");
/// let hello = |name: &str| Attempt {
///     evidence: Evidence::Tls(Hello { server_name: Name::parse(name).ok(), ech: false }),
///     original: SocketAddr::from(([198, 18, 0, 1], 443)),
/// };
/// let permit = agent.decide(hello("api.example.com")).expect("an entry names it");
/// assert_eq!(permit.destination().to_string(), "api.example.com:443");
/// let refusal = agent.decide(hello("www.example.com")).unwrap_err();
/// assert_eq!(refusal.reason, Reason::NameNotAllowed);
/// # Ok::<(), closedbook_policy::InvalidPolicy>(())
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    parts: Parts,
    phases: BTreeMap<Arc<str>, Arc<Phase>>,
    json: Arc<str>,
    digest: Digest,
}

/// What a policy is made of; [`Policy::assemble`] derives the rest.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) name: Option<Arc<str>>,
    /// At least one, `lockdown` not among them.
    pub(crate) phases: BTreeMap<PhaseName, Vec<Entry>>,
    pub(crate) settings: Settings,
}

impl Parts {
    /// The parts of no policy, for a document that has faults.
    pub(crate) fn nothing() -> Self {
        Self { name: None, phases: BTreeMap::new(), settings: Settings::default() }
    }
}

impl Policy {
    /// A policy with one phase and the default settings.
    pub fn single(phase: &PhaseName, entries: &[Entry]) -> Self {
        let phases = [(phase.clone(), entries.to_vec())].into();
        Self::assemble(Parts { name: None, phases, settings: Settings::default() })
    }

    /// This policy with more entries in a phase, which is made if there is none of that name.
    pub fn with_allowed(&self, phase: &PhaseName, entries: &[Entry]) -> Self {
        let mut parts = self.parts.clone();
        parts.phases.entry(phase.clone()).or_default().extend_from_slice(entries);
        Self::assemble(parts)
    }

    pub(crate) fn assemble(parts: Parts) -> Self {
        let json = canonical::json(parts.name.as_deref(), &parts.phases, &parts.settings);
        let digest = Digest::of(&json);
        let settings = Arc::new(parts.settings.clone());
        let nothing = (LOCKDOWN, [].as_slice());
        let defined = parts.phases.iter().map(|(name, entries)| (name.as_str(), entries.as_slice()));
        let phases = defined
            .chain([nothing])
            .map(|(name, entries)| (name.into(), Arc::new(Phase::new(name, digest, entries, &settings))))
            .collect();
        Self { parts, phases, json: json.into(), digest }
    }

    /// Its name, where it has one.
    pub fn name(&self) -> Option<&str> {
        self.parts.name.as_deref()
    }

    /// The phase of this name, at epoch 0. `lockdown` always exists.
    pub fn phase(&self, name: &str) -> Option<&Arc<Phase>> {
        self.phases.get(name)
    }

    /// All phases in the order of their names, `lockdown` among them.
    pub fn phases(&self) -> impl Iterator<Item = &Arc<Phase>> {
        self.phases.values()
    }

    /// SHA-256 of [`Policy::to_json`].
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// What a DNS question for a permitted name gets.
    pub fn dns_answers(&self) -> DnsAnswers {
        self.parts.settings.dns_answers
    }

    /// What Encrypted Client Hello meets.
    pub fn ech(&self) -> Ech {
        self.parts.settings.ech
    }

    /// What private addresses meet.
    pub fn private_addresses(&self) -> PrivateAddresses {
        self.parts.settings.private
    }

    /// The names that are dialled elsewhere.
    pub fn routes(&self) -> impl Iterator<Item = (&Name, &RouteTarget)> {
        self.parts.settings.routes.iter()
    }

    /// The canonical JSON, which is a policy document itself and has the same digest.
    ///
    /// One line of UTF-8, no blanks, no line end. Objects have their keys in byte order; every setting is written,
    /// defaults too; `lockdown` is not. `allow` lists hold the canonical texts of the entries in byte order, each once:
    /// names lower-case and in A-label form, addresses as RFC 5952 writes them, ports ascending and merged, and left
    /// out where they are the default 80,443 (`tcp://` entries always show theirs). `name` is left out where there is
    /// none. So TOML and JSON, order, duplicates, comments and spelling make no difference to the digest.
    ///
    /// ```
    /// # use closedbook_policy::Policy;
    /// let policy = Policy::from_toml(r#"
    ///     schema = 1
    ///     phase.agent.allow = ["b.example:443,80", "A.example."]
    /// "#)?;
    /// assert_eq!(
    ///     policy.to_json(),
    ///     concat!(
    ///         r#"{"dns":{"answers":"synthetic"},"phase":{"agent":{"allow":["a.example","b.example"]}},"#,
    ///         r#""resolve":{"private":"refuse"},"route":{},"schema":1,"tls":{"ech":"outer-name"}}"#,
    ///     ),
    /// );
    /// # Ok::<(), closedbook_policy::InvalidPolicy>(())
    /// ```
    pub fn to_json(&self) -> &str {
        &self.json
    }
}

/// Equal if they mean the same: their canonical JSON is the same.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

impl Eq for Policy {}
