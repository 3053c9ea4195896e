//! Why something was refused: a closed list of stable words, the same in log, metric and answer.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+) => {
        /// The closed list of reasons. Each has one stable word; `docs/log.md` explains them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        pub enum Reason {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl Reason {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant),+];

            /// The stable word.
            pub fn word(self) -> &'static str {
                match self { $(Reason::$variant => $word),+ }
            }
        }
    };
}

reasons! {
    /// No entry of the phase names this host.
    NameNotAllowed = "name-not-allowed",
    /// An entry names the host, but not on this port; or no entry permits the port at all.
    PortNotAllowed = "port-not-allowed",
    /// No entry names this IP address.
    AddressNotAllowed = "address-not-allowed",
    /// A ClientHello without a server name.
    NoServerName = "no-server-name",
    /// A ClientHello that can't be read, or that contradicts itself.
    MalformedHello = "malformed-hello",
    /// No whole ClientHello or request head within the deadline.
    HelloTimeout = "hello-timeout",
    /// A ClientHello or request head over the size limit.
    HelloTooLarge = "hello-too-large",
    /// The first bytes are neither TLS nor HTTP/1.
    NotTlsOrHttp = "not-tls-or-http",
    /// The ClientHello carries Encrypted Client Hello and the policy refuses it.
    EchRefused = "ech-refused",
    /// A request without a Host field.
    HostMissing = "host-missing",
    /// A request with more than one Host field.
    HostDuplicate = "host-duplicate",
    /// The Host field and the connection disagree (port, address).
    HostMismatch = "host-mismatch",
    /// A request that can't be read, or whose framing is ambiguous.
    HttpMalformed = "http-malformed",
    /// A request target that is not in origin-form.
    HttpForm = "http-form",
    /// CONNECT, or the HTTP/2 preface.
    HttpMethod = "http-method",
    /// An Upgrade that the entry does not permit.
    HttpUpgrade = "http-upgrade",
    /// A DNS question for a name that no entry names.
    DnsName = "dns-name",
    /// A DNS question of a class or kind that is not answered.
    DnsType = "dns-type",
    /// A DNS message that can't be read.
    DnsMalformed = "dns-malformed",
    /// The permitted name resolves to addresses that are never dialled, or only when the policy says so.
    PrivateAddress = "private-address",
    /// The permitted name could not be resolved.
    ResolveFailed = "resolve-failed",
    /// The permitted host could not be reached.
    DialFailed = "dial-failed",
    /// A phase change cut the flow.
    PhaseChanged = "phase-changed",
    /// The connection was aimed at closedbook's own listeners.
    Loop = "loop",
    /// A limit on connections, memory or rate was reached.
    Limit = "limit",
    /// A packet that the kernel's ruleset refused.
    Packet = "packet",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A refusal: the reason and, for people, what exactly was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The stable reason.
    pub reason: Reason,
    /// One line for people; never decides anything.
    pub detail: Cow<'static, str>,
}

impl Refusal {
    /// A refusal with its detail.
    pub fn new(reason: Reason, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.detail)
    }
}
