//! What a try saw, in the words of the protocol it was made with. Nothing here is a verdict.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

/// How a try ended, as the side inside the trial saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Seen {
    /// The witness answered at the application layer: the try's nonce came back with a proof of it.
    Proof {
        /// What only the witness can answer to the nonce; empty where the nonce alone came back (an echo).
        proof: String,
    },
    /// An HTTP answer over TLS, the certificate chain good for `name` (RFC 9110, RFC 8446).
    Verified {
        /// The name that the chain is good for.
        name: String,
        /// The answer's status.
        status: u16,
    },
    /// An HTTP answer in the clear, or over TLS that was not verified, without the witness's proof.
    Answered {
        /// The answer's status.
        status: u16,
        /// How it begins.
        text: String,
    },
    /// A TLS server spoke: it sent a ServerHello. A filter that opens no TLS never does.
    TlsReply {
        /// What came.
        text: String,
    },
    /// A TLS handshake went through, and the certificate chain is not good.
    BadChain {
        /// For whom it was wanted.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// Octets came that are none of those.
    Octets {
        /// How they begin.
        text: String,
    },
    /// A fatal TLS alert instead of a ServerHello (RFC 8446 section 6).
    Alert {
        /// The number of the alert; 49 is access_denied.
        description: u8,
    },
    /// The connection was reset (RST).
    Reset,
    /// The connection was closed (FIN) and nothing had come.
    Closed,
    /// Nobody listens: the first segment was answered with RST, or a datagram with ICMP port unreachable.
    Refused,
    /// An ICMP message, or no route.
    Unreachable {
        /// The error's name: `EHOSTUNREACH`, `ENETUNREACH`, `EACCES` for administratively prohibited on UDP.
        errno: String,
    },
    /// A DNS answer without the witness's hand in it.
    Dns {
        /// The response code (RFC 1035 section 4.1.1): `NOERROR`, `NXDOMAIN`, `REFUSED`, ...
        code: String,
        /// The data of its answer records.
        answers: Vec<String>,
    },
    /// The kernel refused a call before any packet: no capability, or a rule that refuses locally.
    Denied {
        /// The call.
        call: String,
        /// The error's name.
        errno: String,
    },
    /// The kernel has no such thing.
    Unsupported {
        /// The call.
        call: String,
        /// The error's name.
        errno: String,
    },
    /// It was sent as far as the sender can tell, and no answer belongs to it.
    Sent,
    /// Nothing came within the time limit.
    Silence,
    /// Something that is to be absent is there.
    Found {
        /// What.
        what: String,
    },
    /// What is to be absent is.
    NotFound,
    /// The try itself failed: what it would have shown is not known.
    Failed {
        /// Why.
        why: String,
    },
}

impl Seen {
    /// What an error of a socket call means once a connection or a datagram was under way.
    pub fn of_error(call: &str, error: &io::Error) -> Self {
        use nix::errno::Errno;
        let waits = matches!(call, "recv" | "read" | "send" | "handshake");
        // A call that does not wait says so when something has run out: local ports, memory.
        match error.kind() {
            io::ErrorKind::TimedOut => return Seen::Silence,
            io::ErrorKind::WouldBlock if waits => return Seen::Silence,
            _ => {}
        }
        let Some(code) = error.raw_os_error() else {
            return match error.kind() {
                io::ErrorKind::UnexpectedEof => Seen::Closed,
                io::ErrorKind::ConnectionReset => Seen::Reset,
                _ => Seen::Failed { why: format!("{call}: {error}") },
            };
        };
        let errno = Errno::from_raw(code);
        let (call, name) = (call.to_owned(), format!("{errno:?}"));
        match errno {
            Errno::ETIMEDOUT | Errno::EINPROGRESS => Seen::Silence,
            Errno::ECONNRESET | Errno::EPIPE | Errno::ECONNABORTED | Errno::ENETRESET => Seen::Reset,
            Errno::ECONNREFUSED => Seen::Refused,
            // EADDRNOTAVAIL: no address to send from, or no port left; like no route, it needs to be seen working elsewhere.
            Errno::EHOSTUNREACH
            | Errno::ENETUNREACH
            | Errno::EHOSTDOWN
            | Errno::ENETDOWN
            | Errno::ENONET
            | Errno::EADDRNOTAVAIL => Seen::Unreachable { errno: name },
            Errno::EPERM | Errno::EACCES | Errno::EROFS | Errno::ENOBUFS => {
                Seen::Denied { call, errno: name }
            }
            Errno::EAFNOSUPPORT
            | Errno::EPROTONOSUPPORT
            | Errno::ESOCKTNOSUPPORT
            | Errno::EPFNOSUPPORT
            | Errno::EOPNOTSUPP
            | Errno::ENOPROTOOPT
            | Errno::ENOSYS
            | Errno::ENODEV
            | Errno::ENXIO => Seen::Unsupported { call, errno: name },
            _ => Seen::Failed { why: format!("{call}: {error}") },
        }
    }

    /// For a way out that is to be absent, and was tried: if it led nowhere, there is none. What can't be told stays as
    /// it is.
    pub fn led_nowhere(self) -> Self {
        match self {
            Seen::Reset
            | Seen::Closed
            | Seen::Refused
            | Seen::Unreachable { .. }
            | Seen::Alert { .. }
            | Seen::Unsupported { .. } => Seen::NotFound,
            Seen::Answered { status: 400.., .. } => Seen::NotFound,
            Seen::Dns { answers, .. } if answers.is_empty() => Seen::NotFound,
            Seen::Verified { .. }
            | Seen::Answered { .. }
            | Seen::TlsReply { .. }
            | Seen::BadChain { .. }
            | Seen::Octets { .. }
            | Seen::Dns { .. } => Seen::found(self),
            other => other,
        }
    }

    /// Whether the kernel said no before there was a packet, and by a rule: that needs nobody else to confirm it. ENOBUFS is
    /// what a rule below the packet sockets says too, and what a kernel without memory says.
    pub fn is_kernels_no(&self) -> bool {
        matches!(self, Seen::Denied { errno, .. } if errno != "ENOBUFS")
    }

    /// The try failed for this reason.
    pub fn failed(why: impl fmt::Display) -> Self {
        Seen::Failed { why: why.to_string() }
    }

    /// Something that is to be absent is there.
    pub fn found(what: impl fmt::Display) -> Self {
        Seen::Found { what: what.to_string() }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Proof { proof } if proof.is_empty() => write!(f, "the nonce came back"),
            Seen::Proof { .. } => write!(f, "the witness answered"),
            Seen::Verified { name, status } => {
                write!(f, "{status} over TLS from {name}, certificate verified")
            }
            Seen::Answered { status, text } => write!(f, "HTTP {status}: {text}"),
            Seen::TlsReply { text } => write!(f, "a TLS server answered: {text}"),
            Seen::BadChain { name, why } => write!(f, "a certificate that is not good for {name}: {why}"),
            Seen::Octets { text } => write!(f, "octets came: {text}"),
            Seen::Alert { description } => {
                write!(f, "TLS alert {} ({description})", alert_name(*description))
            }
            Seen::Reset => write!(f, "connection reset"),
            Seen::Closed => write!(f, "closed without an answer"),
            Seen::Refused => write!(f, "connection refused"),
            Seen::Unreachable { errno } => write!(f, "unreachable ({errno})"),
            Seen::Dns { code, answers } if answers.is_empty() => write!(f, "DNS {code}"),
            Seen::Dns { code, answers } => write!(f, "DNS {code}: {}", answers.join(", ")),
            Seen::Denied { call, errno } => write!(f, "{call} refused by the kernel ({errno})"),
            Seen::Unsupported { call, errno } => write!(f, "{call}: not in this kernel ({errno})"),
            Seen::Sent => write!(f, "sent"),
            Seen::Silence => write!(f, "no answer within the time limit"),
            Seen::Found { what } => write!(f, "found: {what}"),
            Seen::NotFound => write!(f, "not found"),
            Seen::Failed { why } => write!(f, "could not be tried: {why}"),
        }
    }
}

/// The names of RFC 8446 section 6 that a filter or a server may send.
fn alert_name(description: u8) -> &'static str {
    match description {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        22 => "record_overflow",
        40 => "handshake_failure",
        42 => "bad_certificate",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        70 => "protocol_version",
        80 => "internal_error",
        109 => "missing_extension",
        112 => "unrecognized_name",
        116 => "certificate_required",
        120 => "no_application_protocol",
        _ => "alert",
    }
}

#[cfg(test)]
mod tests {
    use nix::errno::Errno;

    use super::*;

    fn seen(call: &str, errno: Errno) -> Seen {
        Seen::of_error(call, &io::Error::from(errno))
    }

    /// What has run out here says nothing about a filter: no refusal, no silence, and nothing that is not in the kernel.
    #[test]
    fn a_shortage_is_no_answer() {
        for call in ["connect", "socket", "bind", "sendto"] {
            assert!(matches!(seen(call, Errno::EAGAIN), Seen::Failed { .. }), "{call}");
        }
        for errno in
            [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM, Errno::EADDRINUSE, Errno::EINTR, Errno::EINVAL]
        {
            assert!(matches!(seen("socket", errno), Seen::Failed { .. }), "{errno}");
        }
        // Needs to be seen working elsewhere, like no route.
        assert!(matches!(seen("connect", Errno::EADDRNOTAVAIL), Seen::Unreachable { .. }));
        assert!(
            !seen("sendto", Errno::ENOBUFS).is_kernels_no() && seen("sendto", Errno::EPERM).is_kernels_no()
        );
        // A call that waits says so when it has waited long enough.
        assert_eq!(seen("recv", Errno::EAGAIN), Seen::Silence);
    }
}
