//! A question, read strictly.

use closedbook_policy::Name;

use super::super::cursor::Cursor;
use super::name::WireName;
use super::{DnsError, Edns, Malformed, opt};

/// One question, as a stub resolver asks it.
///
/// ```
/// use closedbook_sidecar::evidence::dns::Question;
///
/// let query = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07eXample\x03ORG\0\0\x01\0\x01";
/// let question = Question::parse(query).unwrap();
/// assert_eq!((question.id(), question.kind(), question.class()), (0x1234, 1, 1));
/// assert_eq!(question.name().unwrap().as_str(), "example.org");
/// assert_eq!(question.text(), "eXample.ORG");
///
/// // An answer is no question and gets none back; half a question gets FORMERR.
/// assert_eq!(Question::parse(b"\x12\x34\x81\0\0\x01\0\0\0\0\0\0").unwrap_err().reply(), None);
/// assert_eq!(Question::parse(&query[..20]).unwrap_err().reply().unwrap()[3] & 15, 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub(super) id: u16,
    pub(super) recursion_desired: bool,
    pub(super) checking_disabled: bool,
    pub(super) asked: WireName,
    name: Option<Name>,
    pub(super) kind: u16,
    pub(super) class: u16,
    pub(super) edns: Option<Edns>,
}

impl Question {
    /// Reads a message: the payload of a datagram, or what [`frame`](super::frame) found in a stream.
    pub fn parse(message: &[u8]) -> Result<Self, Malformed> {
        let Some((header, body)) = message.split_first_chunk() else {
            return Err(Malformed::new(DnsError::Short, None));
        };
        read(header, body).map_err(|error| Malformed::new(error, Some(header)))
    }

    /// The id that the answer must repeat.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// The name, if it can be one of a host: `_service._tcp.example.org` is none, nor is the root.
    pub fn name(&self) -> Option<&Name> {
        self.name.as_ref()
    }

    /// The name as it was asked, for people and the log: one line of printable ASCII.
    pub fn text(&self) -> String {
        self.asked.text()
    }

    /// The type of record that is asked for (QTYPE).
    pub fn kind(&self) -> u16 {
        self.kind
    }

    /// The class (QCLASS).
    pub fn class(&self) -> u16 {
        self.class
    }

    /// What the client says with EDNS, if it speaks it.
    pub fn edns(&self) -> Option<Edns> {
        self.edns
    }
}

fn read(header: &[u8; 12], body: &[u8]) -> Result<Question, DnsError> {
    let [i0, i1, flags, more_flags, q0, q1, an0, an1, ns0, ns1, ar0, ar1] = *header;
    if flags & 0x80 != 0 {
        return Err(DnsError::Response);
    }
    match flags >> 3 & 0x0f {
        0 => {}
        opcode => return Err(DnsError::Opcode(opcode)),
    }
    match u16::from_be_bytes([q0, q1]) {
        1 => {}
        questions => return Err(DnsError::Questions(questions)),
    }
    if [an0, an1, ns0, ns1] != [0; 4] {
        return Err(DnsError::Records);
    }
    let mut body = Cursor::new(body);
    let asked = WireName::read(&mut body)?;
    let kind = body.u16().ok_or(DnsError::QuestionEnds)?;
    let class = body.u16().ok_or(DnsError::QuestionEnds)?;
    let edns = match u16::from_be_bytes([ar0, ar1]) {
        0 => None,
        1 => Some(opt::read(&mut body)?),
        _ => return Err(DnsError::Records),
    };
    if !body.is_empty() {
        return Err(DnsError::Trailing);
    }
    Ok(Question {
        id: u16::from_be_bytes([i0, i1]),
        recursion_desired: flags & 1 != 0,
        checking_disabled: more_flags & 0x10 != 0,
        name: asked.host_name(),
        asked,
        kind,
        class,
        edns,
    })
}
