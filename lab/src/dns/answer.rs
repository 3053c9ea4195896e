//! From the bytes of a question to the bytes of the answer.

use std::str::FromStr as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use closedbook_policy::Name;
use hickory_proto::op::{Edns, Message, MessageType, Metadata, OpCode, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME, SOA, TXT};
use hickory_proto::rr::{DNSClass, Name as DnsName, RData, Record, RecordType};

use crate::fault::Fault;
use crate::lab::Lab;
use crate::world::Answer;

/// Short, so that a name whose answer was changed is asked for again.
const TTL: u32 = 5;
/// RFC 9715 section 3: what fits without fragments.
const PAYLOAD: u16 = 1232;

/// Answers questions; remembers whose turn it is for names that alternate.
#[derive(Default)]
pub(super) struct Replier {
    turn: AtomicUsize,
}

/// What was asked, and what to send back.
pub(super) struct Outcome {
    /// The name as it was written, and the type. `None` when there was no question to read.
    pub(super) asked: Option<(String, RecordType)>,
    /// `None` to stay silent.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Replier {
    pub(super) fn reply(&self, lab: &Lab, bytes: &[u8]) -> Outcome {
        let request = match Message::from_vec(bytes) {
            Ok(request) if request.metadata.message_type == MessageType::Query => request,
            // An answer to an answer would go on for ever.
            Ok(_) => return Outcome { asked: None, bytes: None },
            Err(_) => return Outcome { asked: None, bytes: malformed(bytes) },
        };
        let mut response = Message::response(request.metadata.id, request.metadata.op_code);
        response.metadata = Metadata::response_from_request(&request.metadata);
        response.metadata.authoritative = true;
        response.metadata.recursion_available = true;
        response.edns = request.edns.as_ref().map(|_| {
            let mut edns = Edns::new();
            edns.set_max_payload(PAYLOAD);
            edns
        });
        let [query] = request.queries.as_slice() else {
            response.metadata.response_code = ResponseCode::FormErr;
            return Outcome { asked: None, bytes: response.to_vec().ok() };
        };
        response.add_query(query.clone());
        let asked = (query.name().to_ascii().trim_end_matches('.').to_owned(), query.query_type());
        let silent = if request.metadata.op_code != OpCode::Query {
            response.metadata.response_code = ResponseCode::NotImp;
            false
        } else if query.query_class() != DNSClass::IN {
            response.metadata.response_code = ResponseCode::Refused;
            false
        } else {
            self.fill(lab, &mut response, query.name(), &asked.0, query.query_type()) == Speech::Silent
        };
        let bytes = if silent { None } else { response.to_vec().ok() };
        Outcome { asked: Some(asked), bytes }
    }

    fn fill(
        &self,
        lab: &Lab,
        response: &mut Message,
        owner: &DnsName,
        text: &str,
        kind: RecordType,
    ) -> Speech {
        let name = Name::parse(text).ok();
        let answer = match name.as_ref().map(|name| (lab.faults.of(name.as_str()), name)) {
            Some((Some(Fault::DnsMissing), _)) | None => Answer::NoSuchName,
            Some((Some(Fault::DnsFailure), _)) => Answer::ServerFailure,
            Some((Some(Fault::DnsSilence), _)) => Answer::Silence,
            Some((_, name)) => lab.world.answer(name),
        };
        if kind == RecordType::TXT && matches!(answer, Answer::Addresses { .. }) {
            let proof = lab.witness.proof(&text.to_ascii_lowercase());
            response.add_answer(Record::from_rdata(owner.clone(), TTL, RData::TXT(TXT::new(vec![proof]))));
            return Speech::Spoken;
        }
        self.add(lab, response, owner, answer, kind)
    }

    fn add(
        &self,
        lab: &Lab,
        response: &mut Message,
        owner: &DnsName,
        answer: Answer,
        kind: RecordType,
    ) -> Speech {
        let before = response.answers.len();
        match answer {
            Answer::Addresses { v4, v6 } => {
                if matches!(kind, RecordType::A | RecordType::ANY) {
                    v4.into_iter().for_each(|ip| put(response, owner, TTL, RData::A(A(ip))));
                }
                if matches!(kind, RecordType::AAAA | RecordType::ANY) {
                    v6.into_iter().for_each(|ip| put(response, owner, TTL, RData::AAAA(AAAA(ip))));
                }
            }
            Answer::Alternating(first, second) => {
                if kind == RecordType::A {
                    let odd = self.turn.fetch_add(1, Ordering::Relaxed) % 2 == 1;
                    put(response, owner, 0, RData::A(A(if odd { second } else { first })));
                }
            }
            Answer::Alias(target) => {
                if let (Ok(dns), Ok(name)) = (DnsName::from_str(&format!("{target}.")), Name::parse(target)) {
                    put(response, owner, TTL, RData::CNAME(CNAME(dns.clone())));
                    return self.add(lab, response, &dns, lab.world.answer(&name), kind);
                }
            }
            Answer::NoSuchName => response.metadata.response_code = ResponseCode::NXDomain,
            Answer::ServerFailure => response.metadata.response_code = ResponseCode::ServFail,
            Answer::Refused => response.metadata.response_code = ResponseCode::Refused,
            Answer::Silence => return Speech::Silent,
        }
        let negative =
            matches!(response.metadata.response_code, ResponseCode::NoError | ResponseCode::NXDomain);
        if negative && response.answers.len() == before {
            // RFC 2308 section 3: without a SOA record a resolver may not remember that there is nothing.
            response.add_authority(soa());
        }
        Speech::Spoken
    }
}

#[derive(PartialEq, Eq)]
enum Speech {
    Spoken,
    Silent,
}

fn put(response: &mut Message, owner: &DnsName, ttl: u32, data: RData) {
    response.add_answer(Record::from_rdata(owner.clone(), ttl, data));
}

fn soa() -> Record {
    let root = DnsName::root();
    let data = SOA::new(root.clone(), root.clone(), 1, 3600, 600, 86_400, TTL);
    Record::from_rdata(root, TTL, RData::SOA(data))
}

/// FORMERR to what has at least a header that asks; silence to the rest.
fn malformed(bytes: &[u8]) -> Option<Vec<u8>> {
    let header: &[u8; 12] = bytes.first_chunk()?;
    let is_response = header[2] & 0x80 != 0;
    let id = u16::from_be_bytes([header[0], header[1]]);
    if is_response {
        return None;
    }
    Message::error_msg(id, OpCode::Query, ResponseCode::FormErr).to_vec().ok()
}
