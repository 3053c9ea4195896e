//! Answers, written from scratch.

use std::borrow::Cow;
use std::net::IpAddr;

use super::{A, AAAA, IN, OPT, Question, SOA};

/// Octets of the largest UDP answer, whatever the client offers: what passes every path unfragmented (RFC 9715).
pub const MAX_UDP: u16 = 1_232;

/// What a client without EDNS takes, and the least that EDNS can say (RFC 6891 section 6.2.3).
const MIN_UDP: u16 = 512;

/// Seconds that a *no* may be kept. The next phase may say *yes*, so clients ask again.
const NEGATIVE_TTL: u32 = 0;

/// Octets of an explanation, so that a refusal always fits into the smallest answer.
const MAX_EXPLANATION: usize = 128;

/// An answer to a question that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The addresses of the name. Those of the family that was not asked for are left out; if none is left, the
    /// answer is the same as [`Answer::NoData`].
    Addresses {
        /// The addresses, in the order to be sent.
        addresses: Vec<IpAddr>,
        /// Seconds that they may be kept.
        ttl: u32,
    },
    /// NOERROR without records: the name exists, but nothing of this type (RFC 2308 section 2.2).
    NoData,
    /// NXDOMAIN, to clients that speak EDNS with the error *Blocked* (RFC 8914 section 4.16).
    NoName {
        /// One line for people: the phase, or how to allow the name. Cut at 128 octets.
        explanation: Cow<'static, str>,
    },
    /// REFUSED.
    Refused,
    /// REFUSED for now, to clients that speak EDNS with the error *Prohibited* (RFC 8914 section 4.19).
    TooMany {
        /// One line for people. Cut at 128 octets.
        explanation: Cow<'static, str>,
    },
    /// SERVFAIL.
    ServerFailure,
}

/// What carries an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A datagram: at most what the client takes, and [`MAX_UDP`].
    Udp,
    /// A stream.
    Tcp,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Rcode {
    NoError = 0,
    FormatError = 1,
    ServerFailure = 2,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
    BadVersion = 16,
}

impl Answer {
    /// The message, the question repeated octet by octet as it was asked.
    ///
    /// ```
    /// use closedbook_sidecar::evidence::dns::{Answer, Question, Transport};
    ///
    /// let query = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07example\x03org\0\0\x01\0\x01";
    /// let question = Question::parse(query).unwrap();
    /// let answer = Answer::Addresses { addresses: vec!["198.18.0.7".parse().unwrap()], ttl: 60 };
    /// assert!(answer.message(&question, Transport::Udp).ends_with(&[198, 18, 0, 7]));
    /// ```
    pub fn message(&self, question: &Question, transport: Transport) -> Vec<u8> {
        let limit = match (transport, question.edns) {
            (Transport::Udp, Some(edns)) => edns.udp_size.clamp(MIN_UDP, MAX_UDP),
            (Transport::Udp, None) => MIN_UDP,
            (Transport::Tcp, _) => u16::MAX,
        };
        let message = self.write(question);
        if message.len() <= limit.into() { message } else { truncated(question) }
    }

    fn write(&self, question: &Question) -> Vec<u8> {
        match self {
            Answer::Addresses { addresses, ttl } => {
                let mut writer = Writer::new(question, Rcode::NoError);
                for address in addresses {
                    writer.address(question.kind, *address, *ttl);
                }
                if writer.answers == 0 {
                    writer.authority();
                }
                writer.finish(question, None)
            }
            Answer::NoData => {
                let mut writer = Writer::new(question, Rcode::NoError);
                writer.authority();
                writer.finish(question, None)
            }
            Answer::NoName { explanation } => {
                let mut writer = Writer::new(question, Rcode::NoSuchName);
                writer.authority();
                writer.finish(question, Some((BLOCKED, explanation)))
            }
            Answer::TooMany { explanation } => {
                Writer::new(question, Rcode::Refused).finish(question, Some((PROHIBITED, explanation)))
            }
            Answer::Refused => Writer::new(question, Rcode::Refused).finish(question, None),
            Answer::ServerFailure => Writer::new(question, Rcode::ServerFailure).finish(question, None),
        }
    }
}

/// A reply to a message whose question can't be repeated: a header, and for BADVERS the OPT record that carries it.
pub(super) fn bare(asked: &[u8; 12], rcode: Rcode) -> Vec<u8> {
    let [i0, i1, flags, ..] = *asked;
    // Response, the opcode and RD of the question.
    let mut message = vec![i0, i1, 0x80 | flags & 0x79, RECURSION_AVAILABLE | rcode as u8 & 0x0f];
    message.extend([0; 8]);
    if let Rcode::BadVersion = rcode {
        set_count(&mut message, ADDITIONAL, 1);
        opt(&mut message, rcode, false, None);
    }
    message
}

/// The client asks again over TCP. The answer section is left out as a whole: half of a set is no set.
fn truncated(question: &Question) -> Vec<u8> {
    let mut message = Writer::new(question, Rcode::NoError).finish(question, None);
    if let Some(flags) = message.get_mut(2) {
        *flags |= 0x02;
    }
    message
}

/// Said although nobody is asked: stub resolvers complain about a server that doesn't.
const RECURSION_AVAILABLE: u8 = 0x80;

/// Offsets of the counts in the header.
const ANSWERS: usize = 6;
const AUTHORITY: usize = 8;
const ADDITIONAL: usize = 10;

/// A pointer to the name of the question, which always begins right after the header.
const QUESTION_NAME: [u8; 2] = [0xc0, 12];

struct Writer {
    message: Vec<u8>,
    rcode: Rcode,
    answers: u16,
}

impl Writer {
    fn new(question: &Question, rcode: Rcode) -> Self {
        let mut message = question.id.to_be_bytes().to_vec();
        message.push(0x80 | u8::from(question.recursion_desired));
        let checking_disabled = u8::from(question.checking_disabled) << 4;
        message.push(RECURSION_AVAILABLE | checking_disabled | rcode as u8 & 0x0f);
        message.extend([0, 1, 0, 0, 0, 0, 0, 0]);
        message.extend_from_slice(question.asked.as_bytes());
        message.extend(question.kind.to_be_bytes());
        message.extend(question.class.to_be_bytes());
        Self { message, rcode, answers: 0 }
    }

    /// One address record, if it is of the kind that was asked for.
    fn address(&mut self, kind: u16, address: IpAddr, ttl: u32) {
        // More than this is more than a message holds.
        if self.answers >= 4_096 {
            return;
        }
        match (kind, address) {
            (A, IpAddr::V4(address)) => self.record(kind, ttl, &address.octets()),
            (AAAA, IpAddr::V6(address)) => self.record(kind, ttl, &address.octets()),
            _ => return,
        }
        self.answers += 1;
        set_count(&mut self.message, ANSWERS, self.answers);
    }

    fn record(&mut self, kind: u16, ttl: u32, data: &[u8]) {
        self.message.extend(QUESTION_NAME);
        rest_of_record(&mut self.message, kind, ttl, data);
    }

    /// The SOA without which a *no* is not taken for an answer by all clients (RFC 2308 section 5). The root is the
    /// one zone of which nothing is known but that every name lies in it.
    fn authority(&mut self) {
        let mut data = b"\x0aclosedbook\x07invalid\0\0".to_vec();
        // Serial, refresh, retry, expire, and the time that a *no* may be kept.
        for number in [1, 3_600, 600, 86_400, NEGATIVE_TTL] {
            data.extend(u32::to_be_bytes(number));
        }
        self.message.push(0);
        rest_of_record(&mut self.message, SOA, NEGATIVE_TTL, &data);
        set_count(&mut self.message, AUTHORITY, 1);
    }

    fn finish(mut self, question: &Question, error: Option<(u16, &str)>) -> Vec<u8> {
        if let Some(edns) = question.edns {
            opt(&mut self.message, self.rcode, edns.dnssec_ok, error);
            set_count(&mut self.message, ADDITIONAL, 1);
        }
        self.message
    }
}

fn rest_of_record(message: &mut Vec<u8>, kind: u16, ttl: u32, data: &[u8]) {
    message.extend(kind.to_be_bytes());
    message.extend(IN.to_be_bytes());
    message.extend(ttl.to_be_bytes());
    // Ours are all short.
    message.extend(u16::try_from(data.len()).unwrap_or_default().to_be_bytes());
    message.extend_from_slice(data);
}

/// The OPT record of an answer; `error` adds the extended error (RFC 8914).
fn opt(message: &mut Vec<u8>, rcode: Rcode, dnssec_ok: bool, error: Option<(u16, &str)>) {
    message.push(0);
    message.extend(OPT.to_be_bytes());
    message.extend(MAX_UDP.to_be_bytes());
    // The upper bits of the code, version 0, and the client's DO bit as it came (RFC 3225 section 3).
    message.extend([rcode as u8 >> 4, 0, u8::from(dnssec_ok) << 7, 0]);
    let option = error.map(extended_error).unwrap_or_default();
    message.extend(u16::try_from(option.len()).unwrap_or_default().to_be_bytes());
    message.extend(option);
}

/// Codes of extended errors.
const BLOCKED: u16 = 15;
const PROHIBITED: u16 = 18;

fn extended_error((code, explanation): (u16, &str)) -> Vec<u8> {
    const EXTENDED_ERROR: u16 = 15;
    let end = (0..=MAX_EXPLANATION).rev().find(|end| explanation.is_char_boundary(*end)).unwrap_or_default();
    let text = explanation.get(..end).unwrap_or(explanation).as_bytes();
    let mut option = EXTENDED_ERROR.to_be_bytes().to_vec();
    option.extend(u16::try_from(text.len() + 2).unwrap_or_default().to_be_bytes());
    option.extend(code.to_be_bytes());
    option.extend_from_slice(text);
    option
}

fn set_count(message: &mut [u8], section: usize, count: u16) {
    if let Some(field) = message.get_mut(section..section + 2) {
        field.copy_from_slice(&count.to_be_bytes());
    }
}
