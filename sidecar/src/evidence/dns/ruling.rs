//! What a question gets, by the policy.

use closedbook_policy::Reason;

use super::{A, IN, Question};

/// What a question gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// The address of the name.
    Address,
    /// The name exists but has nothing of this type: AAAA, since no IPv6 is handed out; HTTPS and SVCB, which would
    /// carry ECH keys and other ports; SOA, TXT and all others.
    NoData,
    /// The policy does not name it, so it does not exist.
    NoName,
    /// Not the class of the Internet.
    Refused,
}

impl Ruling {
    /// The reason for the log, where the question was refused.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Ruling::Address | Ruling::NoData => None,
            Ruling::NoName => Some(Reason::DnsName),
            Ruling::Refused => Some(Reason::DnsType),
        }
    }
}

/// Rules on a question. `permitted`: whether the policy's phase names [`Question::name`]; a question without a host
/// name is never permitted.
///
/// | class | name | type | ruling |
/// | --- | --- | --- | --- |
/// | not IN | any | any | `Refused` |
/// | IN | not permitted, or no host name (PTR, `_service._tcp`, the root) | any | `NoName` |
/// | IN | permitted | A | `Address` |
/// | IN | permitted | any other | `NoData` |
pub fn ruling(question: &Question, permitted: bool) -> Ruling {
    match (question.class, permitted && question.name().is_some(), question.kind) {
        (IN, true, A) => Ruling::Address,
        (IN, true, _) => Ruling::NoData,
        (IN, false, _) => Ruling::NoName,
        _ => Ruling::Refused,
    }
}
