//! What is wrong with a DNS message, and what its sender is told.

use closedbook_policy::{Reason, Refusal};
use thiserror::Error;

use super::answer;

/// What is wrong with a DNS message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DnsError {
    /// Shorter than a header, so that there is no id to answer to.
    #[error("a message shorter than a DNS header")]
    Short,
    /// Itself an answer. Answering answers is how loops begin.
    #[error("a response where a question is due")]
    Response,
    /// Not a standard query: an update, a notification, a transfer of state.
    #[error("a message with opcode {0}")]
    Opcode(u8),
    /// Not exactly one question (RFC 9619).
    #[error("a message with {0} questions")]
    Questions(u16),
    /// Records where a question has none, or additional ones besides one OPT: a signature, a second OPT.
    #[error("a question that carries records")]
    Records,
    /// The message ends inside the question.
    #[error("the message ends inside its question")]
    QuestionEnds,
    /// A pointer in the name of the question, which can point nowhere but to itself and the header.
    #[error("a compressed name in the question")]
    Pointer,
    /// One of the label types that nobody uses any more (RFC 6891 section 5).
    #[error("a label of a type that is not in use")]
    LabelType,
    /// Over 255 octets.
    #[error("the name in the question is longer than 255 octets")]
    LongName,
    /// The OPT record is not whole, or its options are not.
    #[error("the OPT record is malformed")]
    Opt,
    /// Another version of EDNS than 0.
    #[error("a question with EDNS version {0}")]
    EdnsVersion(u8),
    /// Bytes after the last record.
    #[error("the message goes on after its end")]
    Trailing,
}

/// A message that is not answered as a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    error: DnsError,
    reply: Option<Vec<u8>>,
}

impl Malformed {
    /// `header` is the first twelve octets, if there are as many.
    pub(super) fn new(error: DnsError, header: Option<&[u8; 12]>) -> Self {
        let rcode = match error {
            DnsError::Short | DnsError::Response => None,
            DnsError::Opcode(_) => Some(answer::Rcode::NotImplemented),
            DnsError::EdnsVersion(_) => Some(answer::Rcode::BadVersion),
            _ => Some(answer::Rcode::FormatError),
        };
        let reply = header.zip(rcode).map(|(header, rcode)| answer::bare(header, rcode));
        Self { error, reply }
    }

    /// What is wrong.
    pub fn error(&self) -> DnsError {
        self.error
    }

    /// What to send back: FORMERR, NOTIMP or BADVERS; nothing where the message is no question at all.
    pub fn reply(&self) -> Option<&[u8]> {
        self.reply.as_deref()
    }
}

impl From<&Malformed> for Refusal {
    fn from(malformed: &Malformed) -> Self {
        Refusal::new(Reason::DnsMalformed, malformed.error.to_string())
    }
}
