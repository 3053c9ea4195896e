//! The sums of a log. Each table has a bound, and counts what found no place in it.

use std::collections::{BTreeMap, HashMap};

use closedbook_policy::Reason;

use super::record::{Kind, Record, Verdict, shortened};

/// So many hosts are told apart in each table of each phase.
const MOST_HOSTS: usize = 10_000;
/// So many phases, policies and switches.
const MOST_PHASES: usize = 256;
const MOST_PORTS: usize = 8;
/// A name is at most so long (RFC 1035), and an address shorter.
const LONGEST_NAME: usize = 256;

/// Everything that is summed.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) phases: BTreeMap<String, Phase>,
    pub(super) more_phases: u64,
    /// Digests, and how many records each.
    pub(super) policies: BTreeMap<String, Span>,
    pub(super) more_policies: u64,
    /// Which phase was in force under which epoch and policy.
    pub(super) switches: BTreeMap<(u64, String, String), Span>,
    pub(super) more_switches: u64,
    pub(super) span: Span,
    /// The switch of the last record, so that its texts are not looked up for each.
    last: Option<(u64, String, String)>,
}

/// How often, and from when to when.
#[derive(Debug, Default, Clone)]
pub(super) struct Span {
    pub(super) times: u64,
    pub(super) first: String,
    pub(super) last: String,
}

impl Span {
    fn add(&mut self, ts: &str) {
        self.times += 1;
        if self.first.is_empty() || ts < &*self.first {
            ts.clone_into(&mut self.first);
        }
        if ts > &*self.last {
            ts.clone_into(&mut self.last);
        }
    }
}

/// One phase.
#[derive(Debug, Default)]
pub(super) struct Phase {
    pub(super) refused: Table,
    pub(super) used: Table,
    /// Permitted, and not reached.
    pub(super) failed: Table,
    pub(super) packets: Table,
    pub(super) cut: u64,
    pub(super) records: u64,
}

/// Hosts, each with its sum.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) hosts: HashMap<String, Sum>,
    /// Attempts at hosts that found no place.
    pub(super) more: u64,
}

/// What is said of one host.
#[derive(Debug, Default, Clone)]
pub(super) struct Sum {
    pub(super) span: Span,
    /// Questions for it.
    pub(super) asked: u64,
    /// One bit for each of [`Reason::ALL`].
    pub(super) reasons: u64,
    /// One bit for each of [`Kind::ALL`].
    pub(super) kinds: u8,
    pub(super) ports: Vec<u16>,
    pub(super) more_ports: bool,
    /// The entries that permitted it.
    pub(super) rules: Vec<String>,
    pub(super) up: u64,
    pub(super) down: u64,
    /// What the first record said, for people.
    pub(super) example: String,
}

impl Tally {
    pub(super) fn add(&mut self, record: &Record<'_>) {
        self.span.add(record.ts);
        self.note_switch(record);
        if !self.phases.contains_key(&*record.phase) {
            if self.phases.len() >= MOST_PHASES {
                self.more_phases += 1;
                return;
            }
            self.phases.insert(record.phase.clone().into_owned(), Phase::default());
        }
        if let Some(phase) = self.phases.get_mut(&*record.phase) {
            phase.add(record);
        }
    }

    fn note_switch(&mut self, record: &Record<'_>) {
        let is_same = self.last.as_ref().is_some_and(|(epoch, phase, policy)| {
            *epoch == record.epoch && *phase == record.phase && *policy == record.policy
        });
        if !is_same {
            self.last =
                Some((record.epoch, record.phase.clone().into_owned(), record.policy.clone().into_owned()));
        }
        let Some(key) = &self.last else { return };
        let is_full = self.switches.len() >= MOST_PHASES;
        match self.switches.get_mut(key) {
            Some(span) => span.add(record.ts),
            None if is_full => self.more_switches += 1,
            None => self.switches.entry(key.clone()).or_default().add(record.ts),
        }
        let is_full = self.policies.len() >= MOST_PHASES;
        match self.policies.get_mut(&*record.policy) {
            Some(span) => span.add(record.ts),
            None if is_full => self.more_policies += 1,
            None => self.policies.entry(key.2.clone()).or_default().add(record.ts),
        }
    }
}

impl Phase {
    fn add(&mut self, record: &Record<'_>) {
        self.records += 1;
        let table = match record.verdict {
            Verdict::Cut(_) => {
                self.cut += 1;
                // What was cut before anything permitted it was never used.
                match record.rule {
                    Some(_) => &mut self.used,
                    None => return,
                }
            }
            Verdict::Allow => &mut self.used,
            Verdict::Deny(Reason::Packet) => &mut self.packets,
            // The policy permits it, or says nothing about it.
            Verdict::Deny(Reason::ResolveFailed | Reason::DialFailed | Reason::Limit) => &mut self.failed,
            Verdict::Deny(Reason::PrivateAddress) if record.rule.is_some() => &mut self.failed,
            Verdict::Deny(_) => &mut self.refused,
        };
        let host = host(record);
        let is_full = table.hosts.len() >= MOST_HOSTS;
        match table.hosts.get_mut(host) {
            Some(sum) => sum.add(record),
            None if is_full => table.more += 1,
            None => table.hosts.entry(host.to_owned()).or_default().add(record),
        }
    }
}

impl Sum {
    fn add(&mut self, record: &Record<'_>) {
        self.span.add(record.ts);
        self.asked += u64::from(record.kind == Kind::Dns);
        if let Verdict::Deny(reason) | Verdict::Cut(Some(reason)) = record.verdict {
            let bit = Reason::ALL.iter().position(|known| *known == reason).unwrap_or(63);
            self.reasons |= 1 << bit.min(63);
        }
        let kind = Kind::ALL.iter().position(|(kind, _)| *kind == record.kind).unwrap_or_default();
        self.kinds |= 1 << kind;
        if let Some(port) = record.port.filter(|_| record.kind != Kind::Dns)
            && !self.ports.contains(&port)
        {
            match self.ports.len() < MOST_PORTS {
                true => self.ports.push(port),
                false => self.more_ports = true,
            }
        }
        if let Some(rule) = &record.rule
            && self.rules.len() < MOST_PORTS
            && !self.rules.iter().any(|known| known == rule)
        {
            self.rules.push(shortened(rule).into_owned());
        }
        self.up = self.up.saturating_add(record.up);
        self.down = self.down.saturating_add(record.down);
        if self.example.is_empty()
            && let Some(detail) = &record.detail
        {
            self.example = shortened(detail).into_owned();
        }
    }

    pub(super) fn reasons(&self) -> Vec<&'static str> {
        let has = |(bit, _): &(usize, &Reason)| self.reasons & (1 << (*bit).min(63)) != 0;
        Reason::ALL.iter().enumerate().filter(has).map(|(_, reason)| reason.word()).collect()
    }

    pub(super) fn kinds(&self) -> Vec<&'static str> {
        let has = |(bit, _): &(usize, (Kind, &'static str))| self.kinds & (1 << bit) != 0;
        Kind::ALL.into_iter().enumerate().filter(has).map(|(_, (_, word))| word).collect()
    }
}

/// The name; else the address that was aimed at, without the port.
fn host<'a>(record: &'a Record<'_>) -> &'a str {
    let host = match (&record.name, &record.original) {
        (Some(name), _) => name,
        (None, Some(original)) => {
            let address = original.rsplit_once(':').map_or(&**original, |(address, _)| address);
            return cut(address.trim_matches(['[', ']']));
        }
        (None, None) => return "(nothing)",
    };
    cut(host)
}

fn cut(text: &str) -> &str {
    match text.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}
