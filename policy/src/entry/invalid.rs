//! Why a text is not an entry, and what to write instead.

use std::error::Error;
use std::fmt;

use thiserror::Error;

use super::grammar;
use crate::cidr::{Cidr, InvalidCidr};
use crate::{InvalidName, InvalidPorts};

/// A text that is not an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidEntry {
    text: Box<str>,
    fault: EntryFault,
    remedy: Option<Box<str>>,
}

/// What is wrong with the text of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EntryFault {
    /// Nothing there.
    #[error("the entry is empty")]
    Empty,
    /// Blanks, line ends or control characters.
    #[error("the entry holds blanks or control characters")]
    Blank,
    /// A scheme other than `tcp` and `ws`.
    #[error("an entry is a host, not a URL: the scheme {0:?} does not belong")]
    Scheme(String),
    /// `wss://`.
    #[error("wss:// is TLS, which an entry without scheme permits")]
    SecureWebSocket,
    /// `user@host`.
    #[error("an entry has no user part")]
    UserInfo,
    /// A path, query or fragment.
    #[error("an entry is a host, not a URL: it has no path, query or fragment")]
    Path,
    /// Only ports.
    #[error("the host is missing")]
    NoHost,
    /// `.example.com`, the spelling of other tools.
    #[error("a leading dot means nothing here")]
    LeadingDot,
    /// `*`, `*.*`.
    #[error("there is no entry for every host: name the hosts")]
    AnyHost,
    /// `*.com`.
    #[error("a wildcard over a whole top-level domain is too wide: name at least two labels after the `*.`")]
    TooWide,
    /// A `*` anywhere but as the whole first label.
    #[error("a wildcard is the whole first label, as in *.example.com")]
    Wildcard,
    /// Brackets that don't hold an IPv6 address, or something else after them.
    #[error("brackets hold an IPv6 address or block and end it, as in [2001:db8::/32]:443")]
    Bracket,
    /// More than one colon, and not IPv6.
    #[error("more than one colon: ports are a list, as in example.com:80,443")]
    Colons,
    /// Addresses that are never dialled. Carries what they are.
    #[error("the address is never dialled: {0}")]
    NeverDialled(&'static str),
    /// A `tcp://` entry for a wildcard or an address.
    #[error(
        "a tcp:// entry takes one exact name, since it is recognised by the address that was answered for that name"
    )]
    TcpHost,
    /// A `tcp://` entry without ports, or for all.
    #[error("a tcp:// entry lists its ports, as in tcp://git.example.com:22")]
    TcpPorts,
    /// An address or block that is wrong in itself.
    #[error("{0}")]
    Address(InvalidCidr),
    /// A name that is wrong in itself.
    #[error("{0}")]
    Name(#[from] InvalidName),
    /// Ports that are wrong in themselves.
    #[error("{0}")]
    Ports(#[from] InvalidPorts),
}

impl InvalidEntry {
    pub(super) fn new(text: &str, fault: EntryFault) -> Self {
        let remedy = remedy(text, &fault).map(Into::into);
        Self { text: excerpt(text), fault, remedy }
    }

    /// What is wrong.
    pub fn fault(&self) -> &EntryFault {
        &self.fault
    }

    /// The entry that was probably meant.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }
}

/// The entry that was probably meant: the text without what does not belong, if an entry is left.
fn remedy(text: &str, fault: &EntryFault) -> Option<String> {
    let candidate = match fault {
        EntryFault::Address(InvalidCidr::HostBits { block }) => with_block(text, block),
        EntryFault::LeadingDot => format!("*{text}"),
        EntryFault::Ports(InvalidPorts::Reversed { first, last }) => {
            text.replace(&format!("{first}-{last}"), &format!("{last}-{first}"))
        }
        EntryFault::Ports(InvalidPorts::Empty) => text.trim_end_matches([':', ',']).to_owned(),
        _ => host_part(text),
    };
    grammar::read(&candidate).ok().map(|entry| entry.as_str().to_owned())
}

/// The text with its block put right; scheme and ports stay.
fn with_block(text: &str, block: &Cidr) -> String {
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let ports = match rest.split_once(']') {
        Some((_, after)) => after,
        None if rest.matches(':').count() == 1 => {
            rest.find(':').and_then(|at| rest.get(at..)).unwrap_or_default()
        }
        None => "",
    };
    let block = if block.address().is_ipv6() { format!("[{block}]") } else { block.to_string() };
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{block}{ports}")
}

fn host_part(text: &str) -> String {
    let text = text.trim();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    rest.rsplit('@').next().unwrap_or_default().to_owned()
}

/// As much of the text as an error message bears.
fn excerpt(text: &str) -> Box<str> {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

impl fmt::Display for InvalidEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.text, self.fault)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; write {remedy:?}"),
            None => Ok(()),
        }
    }
}

impl Error for InvalidEntry {}
