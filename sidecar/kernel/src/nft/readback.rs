//! Reading the kernel's own copy of a table and comparing it with what was meant.
//!
//! Both sides go the same way: netlink message, libnftnl, printed bytecode. Counters and rule numbers differ by
//! nature and are taken out; everything else has to be equal, comments included.

use std::{collections::BTreeMap, io};

use netlink_sys::protocols::NETLINK_NETFILTER;
use nix::libc;
use thiserror::Error;

use super::{
    encode,
    ffi::{ParsedChain, ParsedRule, ParsedTable},
    mismatch::{Mismatch, Mismatches},
    ruleset::{Name, Ruleset},
};
use crate::netlink::{self, Channel};

/// How often a dump is begun again because somebody changed rules meanwhile.
const ATTEMPTS: usize = 5;

/// Why the rules that stand aren't known to be the ones meant.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The process lacks `CAP_NET_ADMIN` in the user namespace that owns the network namespace.
    #[error("reading packet rules needs CAP_NET_ADMIN in the task's network namespace")]
    NotPermitted,
    /// The conversation failed.
    #[error("the packet rules can't be read")]
    Netlink(#[source] io::Error),
    /// The kernel holds something else.
    #[error("the packet rules are not the ones loaded: {0}")]
    Differs(Mismatches),
}

/// What the counting rules counted since the ruleset was loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters(BTreeMap<Name, Count>);

/// What one rule counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, IP headers included.
    pub bytes: u64,
}

impl Counters {
    /// Comments of all counting rules and what they counted, ordered by comment.
    pub fn iter(&self) -> impl Iterator<Item = (Name, Count)> + '_ {
        self.0.iter().map(|(rule, count)| (*rule, *count))
    }

    /// What the rule with this comment counted; `None` if no rule of that comment counts.
    pub fn of(&self, comment: &str) -> Option<Count> {
        self.0.iter().find(|(rule, _)| rule.as_str() == comment).map(|(_, count)| *count)
    }
}

/// Compares the table in the calling thread's network namespace with `ruleset`.
///
/// # Errors
/// [`VerifyError::Differs`] names every difference; other errors mean that nothing is known.
pub fn verify(ruleset: &Ruleset) -> Result<Counters, VerifyError> {
    let found = Found::read(ruleset.table).map_err(|error| match error.raw_os_error() {
        Some(libc::EPERM) => VerifyError::NotPermitted,
        _ => VerifyError::Netlink(error),
    })?;
    let mut mismatches = found.compare_table(ruleset);
    let mut counters = Counters::default();
    for chain in &ruleset.chains {
        let meant = chain.rules.iter().map(|rule| {
            let text = ReadRule::of(&encode::rule_message(ruleset, chain.name, rule)).map(|read| read.text);
            (rule.comment, text)
        });
        let empty = Vec::new();
        let rules = found.rules.get(chain.name.as_str()).unwrap_or(&empty);
        mismatches.extend(compare_rules(chain.name, meant.collect(), rules));
        counters.0.extend(
            chain.rules.iter().zip(rules).filter_map(|(rule, read)| Some((rule.comment, read.count?))),
        );
    }
    if mismatches.is_empty() { Ok(counters) } else { Err(VerifyError::Differs(Mismatches(mismatches))) }
}

/// The kernel's copy of one table.
#[derive(Debug, Default)]
struct Found {
    table: Option<u32>,
    chains: BTreeMap<String, String>,
    rules: BTreeMap<String, Vec<ReadRule>>,
    unreadable: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ReadRule {
    comment: Option<String>,
    text: String,
    count: Option<Count>,
}

impl ReadRule {
    fn of(message: &[u8]) -> Option<Self> {
        ParsedRule::parse(message).map(Self::new)
    }

    fn new(mut rule: ParsedRule) -> Self {
        let count = rule.normalise().map(|(packets, bytes)| Count { packets, bytes });
        Self { comment: comment(&rule.userdata()), text: rule.print(), count }
    }
}

impl Found {
    fn read(table: Name) -> io::Result<Self> {
        let channel = Channel::open(NETLINK_NETFILTER)?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match Self::read_once(&channel, table) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted && attempts < ATTEMPTS => {}
                result => return result,
            }
        }
    }

    fn read_once(channel: &Channel, table: Name) -> io::Result<Self> {
        let mut found = Self::default();
        dump(channel, libc::NFT_MSG_GETTABLE, |message| match ParsedTable::parse(message) {
            Some(parsed) if parsed.name().as_deref() == Some(table.as_str()) => {
                found.table = Some(parsed.flags())
            }
            Some(_) => {}
            None => found.unreadable += 1,
        })?;
        dump(channel, libc::NFT_MSG_GETCHAIN, |message| match ParsedChain::parse(message) {
            Some(parsed) if parsed.table().as_deref() == Some(table.as_str()) => {
                found.chains.insert(parsed.name().unwrap_or_default(), entry(&parsed));
            }
            Some(_) => {}
            None => found.unreadable += 1,
        })?;
        dump(channel, libc::NFT_MSG_GETRULE, |message| match ParsedRule::parse(message) {
            Some(parsed) if parsed.table().as_deref() == Some(table.as_str()) => {
                let chain = parsed.chain().unwrap_or_default();
                found.rules.entry(chain).or_default().push(ReadRule::new(parsed));
            }
            Some(_) => {}
            None => found.unreadable += 1,
        })?;
        Ok(found)
    }

    fn compare_table(&self, ruleset: &Ruleset) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        mismatches.extend((self.unreadable > 0).then_some(Mismatch::Unreadable));
        match self.table {
            None => mismatches.push(Mismatch::TableMissing(ruleset.table)),
            Some(0) => {}
            Some(flags) => mismatches.push(Mismatch::TableFlags(flags)),
        }
        for chain in &ruleset.chains {
            let meant = ParsedChain::parse(&encode::chain_message(ruleset, chain));
            let meant = meant.as_ref().map(entry).unwrap_or_default();
            match self.chains.get(chain.name.as_str()) {
                None => mismatches.push(Mismatch::ChainMissing(chain.name)),
                Some(found) if *found == meant => {}
                Some(found) => {
                    mismatches.push(Mismatch::ChainChanged { chain: chain.name, meant, found: found.clone() })
                }
            }
        }
        let extra = self
            .chains
            .keys()
            .filter(|name| !ruleset.chains.iter().any(|chain| chain.name.as_str() == **name));
        mismatches.extend(extra.cloned().map(Mismatch::ChainExtra));
        mismatches
    }
}

fn compare_rules(chain: Name, meant: Vec<(Name, Option<String>)>, found: &[ReadRule]) -> Vec<Mismatch> {
    if meant.iter().map(|(_, text)| text.as_deref()).eq(found.iter().map(|read| Some(read.text.as_str()))) {
        return Vec::new();
    }
    let mut extra = found.to_vec();
    let mut missing = Vec::new();
    for (rule, text) in meant {
        match extra.iter().position(|read| Some(&read.text) == text.as_ref()) {
            Some(position) => {
                extra.remove(position);
            }
            None => missing.push(rule),
        }
    }
    if missing.is_empty() && extra.is_empty() {
        return vec![Mismatch::RulesReordered { chain }];
    }
    let mut mismatches = Vec::new();
    for rule in missing {
        mismatches.push(match extra.iter().position(|read| read.comment.as_deref() == Some(rule.as_str())) {
            Some(position) => Mismatch::RuleChanged { chain, rule, found: extra.remove(position).text },
            None => Mismatch::RuleMissing { chain, rule },
        });
    }
    mismatches.extend(extra.into_iter().map(|read| Mismatch::RuleExtra { chain, found: read.text }));
    mismatches
}

/// How packets get into a chain, as text that is equal exactly if all of it is.
fn entry(chain: &ParsedChain) -> String {
    let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    format!(
        "type {} hook {} priority {} policy {}",
        chain.kind().as_deref().unwrap_or("-"),
        number(chain.hook().map(i64::from)),
        number(chain.priority().map(i64::from)),
        number(chain.policy().map(i64::from)),
    )
}

/// The comment among the type-length-value triples nft keeps with a rule.
fn comment(userdata: &[u8]) -> Option<String> {
    const COMMENT: u8 = 0;
    let mut rest = userdata;
    while let [kind, length, after @ ..] = rest {
        let (value, after) = after.split_at_checked(usize::from(*length))?;
        if *kind == COMMENT {
            let text = value.strip_suffix(&[0]).unwrap_or(value);
            return Some(String::from_utf8_lossy(text).into_owned());
        }
        rest = after;
    }
    None
}

/// Whether there is a table of this name.
pub(super) fn has_table(channel: &Channel, table: Name) -> io::Result<bool> {
    let mut found = false;
    dump(channel, libc::NFT_MSG_GETTABLE, |message| {
        found |=
            ParsedTable::parse(message).is_none_or(|parsed| parsed.name().as_deref() == Some(table.as_str()));
    })?;
    Ok(found)
}

fn dump(channel: &Channel, request: libc::c_int, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    // Answers to different requests never share a number.
    let sequence = request.cast_unsigned() + 1;
    let kind = (libc::NFNL_SUBSYS_NFTABLES << 8) | request;
    // `nfgenmsg` without attributes: the kernel doesn't filter all dumps by table.
    let family = [libc::NFPROTO_INET as u8, libc::NFNETLINK_V0 as u8, 0, 0];
    let message = netlink::request(kind as u16, libc::NLM_F_DUMP, sequence, &family);
    channel.dump(&message, sequence, |answer| each(answer.bytes))
}
