//! Why an HTTP request is refused.

use closedbook_policy::{InvalidName, Reason, Refusal};
use thiserror::Error;

use super::super::protocol::MAX_METHOD;
use super::{MAX_FIELDS, MAX_HEAD, MAX_TRAILERS};

/// Why an HTTP request is refused. Each form has its own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HttpError {
    /// A head over [`MAX_HEAD`].
    #[error("the request head is larger than {MAX_HEAD} octets")]
    LargeHead,
    /// A carriage return that ends no line.
    #[error("a bare carriage return")]
    BareCr,
    /// A line feed without its carriage return, which RFC 9112 section 2.2 lets others take for a line's end.
    #[error("a bare line feed")]
    BareLf,
    /// NUL and other control octets.
    #[error("a control octet, {0:#04x}")]
    Control(u8),

    /// No request line where one is due.
    #[error("an empty line before the request line")]
    EmptyLine,
    /// Not method, blank, target, blank, version.
    #[error("the request line is not a method, a target and a version")]
    RequestLine,
    /// HTTP/0.9, or a line of another protocol.
    #[error("the request line has no HTTP version")]
    NoVersion,
    /// Neither HTTP/1.0 nor HTTP/1.1.
    #[error("the version is neither HTTP/1.0 nor HTTP/1.1")]
    Version,
    /// A method that is not a token.
    #[error("the method is not a token of at most {MAX_METHOD} octets")]
    Method,
    /// CONNECT makes a tunnel of the connection.
    #[error("CONNECT is refused")]
    Connect,
    /// TRACE gives back what other software added.
    #[error("TRACE is refused")]
    Trace,
    /// The beginning of HTTP/2 with prior knowledge (RFC 9113 section 3.4).
    #[error("HTTP/2 without TLS is refused")]
    Http2Preface,
    /// `*` (RFC 9112 section 3.2.4).
    #[error("the target is an asterisk")]
    AsteriskForm,
    /// A whole URL: the form for proxies, with a second place for a host.
    #[error("the target is a whole URL, as for a proxy")]
    AbsoluteForm,
    /// A host and port without a path: the form of CONNECT.
    #[error("the target does not begin with a slash")]
    AuthorityForm,
    /// A byte that no path or query holds (RFC 3986 section 3.3), a fragment included.
    #[error("the target holds an octet that does not belong there, {0:#04x}")]
    Target(u8),

    /// More than [`MAX_FIELDS`] fields.
    #[error("more than {MAX_FIELDS} fields")]
    ManyFields,
    /// A line that begins with a blank (RFC 9112 section 5.2).
    #[error("a folded field line")]
    Folded,
    /// A line without a colon.
    #[error("a field line without a colon")]
    NoColon,
    /// A field without a name.
    #[error("a field without a name")]
    NoFieldName,
    /// A blank before the colon (RFC 9112 section 5.1).
    #[error("a blank between field name and colon")]
    BlankBeforeColon,
    /// A name that is not a token.
    #[error("a field name that holds {0:#04x}")]
    FieldName(u8),
    /// `Content_Length` and the like, which gateways to CGI take for the field with hyphens.
    #[error("a field name that only its underscore tells from one that decides")]
    Underscore,
    /// Blanks round a value that decides, beyond the one usual after the colon.
    #[error("unusual blanks round the value of {0}")]
    Blanks(&'static str),

    /// No Host (RFC 9112 section 3.2).
    #[error("no Host")]
    NoHost,
    /// A Host of no length.
    #[error("the Host is empty")]
    EmptyHost,
    /// More than one Host, equal or not.
    #[error("more than one Host")]
    ManyHosts,
    /// User information before the host.
    #[error("the Host holds user information")]
    HostUserInfo,
    /// What is in brackets is not an IPv6 address.
    #[error("the Host's brackets hold no IPv6 address")]
    HostBrackets,
    /// Not a decimal number from 1 to 65535 without leading zeros.
    #[error("the Host's port is not a port number")]
    HostPort,
    /// An address in a form that some read and some do not: octal, hexadecimal, short, one number.
    #[error("the Host would be read as an IPv4 address, but is not written as one")]
    HostNumber,
    /// Not a host name.
    #[error("the Host is not a host name")]
    HostName(#[source] InvalidName),

    /// Both Content-Length and Transfer-Encoding (RFC 9112 section 6.3).
    #[error("both Content-Length and Transfer-Encoding")]
    TwoLengths,
    /// Content-Length twice, equal or not.
    #[error("more than one Content-Length")]
    ManyContentLengths,
    /// Not a plain decimal number below 2^63.
    #[error("the Content-Length is not a plain number below 2^63")]
    ContentLength,
    /// Transfer-Encoding twice.
    #[error("more than one Transfer-Encoding")]
    ManyTransferEncodings,
    /// Anything but `chunked`.
    #[error("a Transfer-Encoding other than chunked")]
    TransferEncoding,
    /// HTTP/1.0 knows no Transfer-Encoding (RFC 9112 section 6.1).
    #[error("a Transfer-Encoding in HTTP/1.0")]
    OldTransferEncoding,
    /// Anything but one `100-continue`.
    #[error("an Expect other than one 100-continue")]
    Expect,
    /// `Connection: host` asks whoever forwards to drop the field that decides.
    #[error("Connection names a field that decides")]
    ConnectionField,

    /// Anything but one `websocket`.
    #[error("an Upgrade to something else than websocket")]
    Upgrade,
    /// The HTTP/2 settings of an h2c upgrade.
    #[error("an upgrade to HTTP/2")]
    Http2Settings,
    /// A websocket upgrade is a GET of HTTP/1.1 without a body, announced in Connection (RFC 6455 section 4.1).
    #[error("an Upgrade that is not a proper websocket handshake")]
    UpgradeForm,

    /// Not a chunk size of 1 to 16 hexadecimal digits below 2^63, alone on its line.
    #[error("a chunk size that is not a plain number below 2^63, {0:#04x}")]
    ChunkSize(u8),
    /// Chunk extensions (RFC 9112 section 7.1.1), which nothing needs and parsers disagree about.
    #[error("a chunk extension")]
    ChunkExtension,
    /// Chunk data that is longer than it says.
    #[error("a chunk longer than its size")]
    ChunkEnd,
    /// Trailers over [`MAX_TRAILERS`].
    #[error("trailers larger than {MAX_TRAILERS} octets")]
    LargeTrailers,
    /// A trailer that would change how the request is read (RFC 9110 section 6.5.1).
    #[error("a trailer that belongs into the head")]
    Trailer,
}

impl HttpError {
    fn reason(self) -> Reason {
        match self {
            HttpError::LargeHead => Reason::HelloTooLarge,
            HttpError::NoHost | HttpError::EmptyHost => Reason::HostMissing,
            HttpError::ManyHosts => Reason::HostDuplicate,
            HttpError::Connect | HttpError::Trace | HttpError::Http2Preface => Reason::HttpMethod,
            HttpError::AsteriskForm | HttpError::AbsoluteForm | HttpError::AuthorityForm => Reason::HttpForm,
            HttpError::Upgrade | HttpError::Http2Settings | HttpError::UpgradeForm => Reason::HttpUpgrade,
            _ => Reason::HttpMalformed,
        }
    }
}

impl From<HttpError> for Refusal {
    fn from(error: HttpError) -> Self {
        let detail = match error {
            HttpError::HostName(invalid) => format!("{error}: {invalid}"),
            _ => error.to_string(),
        };
        Refusal::new(error.reason(), detail)
    }
}
