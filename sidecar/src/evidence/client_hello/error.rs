//! Why a ClientHello is refused.

use closedbook_policy::{InvalidName, Reason, Refusal};
use thiserror::Error;

use super::MAX_HELLO;

/// Why a ClientHello is refused. Each form has its own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HelloError {
    /// An SSL 2.0 hello, which has no place for a server name.
    #[error("an SSL 2.0 hello")]
    Ssl2,
    /// A record that is not of type handshake, before the hello is whole.
    #[error("a record of type {0} where a handshake record is due")]
    RecordType(u8),
    /// A record of another major version than 3.
    #[error("a record of version {0}.x")]
    RecordVersion(u8),
    /// A handshake record without content, which RFC 8446 section 5.1 forbids.
    #[error("a handshake record of no length")]
    EmptyRecord,
    /// A record over 2^14 octets (RFC 8446 section 5.1).
    #[error("a record of {0} octets, over the limit of 16384")]
    LongRecord(u16),
    /// A handshake message that is not a ClientHello.
    #[error("a handshake message of type {0} where a ClientHello is due")]
    MessageType(u8),
    /// More than [`MAX_HELLO`] octets on the wire.
    #[error("the ClientHello is larger than {MAX_HELLO} octets")]
    TooLarge,
    /// The record in which the hello ends holds more than the hello.
    #[error("the record in which the ClientHello ends goes on after it")]
    Coalesced,
    /// Not a version of TLS or SSL 3.0.
    #[error("a ClientHello of version {0:#06x}")]
    Version(u16),
    /// The hello ends inside one of its parts.
    #[error("the ClientHello ends inside its {0}")]
    Ends(Part),
    /// A session id over 32 octets.
    #[error("a session id of {0} octets, over the limit of 32")]
    LongSessionId(usize),
    /// No cipher suites.
    #[error("the ClientHello offers no cipher suite")]
    NoCipherSuites,
    /// A list of cipher suites that ends inside one.
    #[error("the list of cipher suites ends inside one")]
    OddCipherSuites,
    /// No compression methods; even the null method is one.
    #[error("the ClientHello offers no compression method")]
    NoCompression,
    /// Bytes between the extensions and the end of the hello.
    #[error("the ClientHello goes on after its extensions")]
    Trailing,
    /// One extension twice (RFC 8446 section 4.2).
    #[error("extension {0} occurs twice")]
    DuplicateExtension(u16),
    /// A server_name extension whose list is not exactly as long as the extension.
    #[error("the length of the server name list is wrong")]
    ServerNameList,
    /// A server_name extension that names nobody.
    #[error("the server name list is empty")]
    NoServerNames,
    /// A name of a type that nothing defines.
    #[error("a server name of type {0}")]
    ServerNameType(u8),
    /// More than one name (RFC 6066 section 3).
    #[error("more than one server name")]
    ManyServerNames,
    /// A name of no length.
    #[error("the server name is empty")]
    EmptyServerName,
    /// An IP literal, which RFC 6066 section 3 forbids here, or what resolvers would read as one.
    #[error("the server name is an IP address")]
    ServerNameAddress,
    /// A NUL, on which C and others disagree where the name ends.
    #[error("the server name holds a NUL")]
    ServerNameNul,
    /// International names are sent as A-labels (RFC 6066 section 3).
    #[error("the server name is not ASCII")]
    ServerNameNotAscii,
    /// Not a host name for another cause.
    #[error("the server name is not a host name")]
    ServerName(#[source] InvalidName),
}

/// A part of a ClientHello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `legacy_version`.
    Version,
    /// `random`.
    Random,
    /// `legacy_session_id`.
    SessionId,
    /// `cipher_suites`.
    CipherSuites,
    /// `legacy_compression_methods`.
    Compression,
    /// The list of extensions.
    Extensions,
    /// One extension.
    Extension,
    /// One entry of the server name list.
    ServerName,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Part::Version => "version",
            Part::Random => "random",
            Part::SessionId => "session id",
            Part::CipherSuites => "list of cipher suites",
            Part::Compression => "list of compression methods",
            Part::Extensions => "list of extensions",
            Part::Extension => "last extension",
            Part::ServerName => "server name",
        })
    }
}

impl HelloError {
    fn reason(self) -> Reason {
        match self {
            HelloError::Ssl2 => Reason::NotTlsOrHttp,
            HelloError::TooLarge => Reason::HelloTooLarge,
            _ => Reason::MalformedHello,
        }
    }
}

impl From<HelloError> for Refusal {
    fn from(error: HelloError) -> Self {
        let detail = match error {
            HelloError::ServerName(invalid) => format!("{error}: {invalid}"),
            _ => error.to_string(),
        };
        Refusal::new(error.reason(), detail)
    }
}
