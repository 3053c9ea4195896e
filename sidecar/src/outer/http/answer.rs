//! What a refused request is answered.

use closedbook_policy::{Reason, Refusal};

/// An answer of closedbook's own.
#[derive(Debug)]
pub(crate) struct Answer {
    status: u16,
    reason: Reason,
    body: String,
    /// The request was HEAD: the answer says how long its body would be, and has none (RFC 9110 section 9.3.2).
    head: bool,
}

impl Answer {
    /// The answer to the request that begins with `prefix`.
    pub(crate) fn new(refusal: &Refusal, prefix: &[u8]) -> Self {
        Self {
            status: status(refusal.reason, prefix),
            reason: refusal.reason,
            body: body(refusal),
            head: prefix.starts_with(b"HEAD "),
        }
    }

    /// The whole message.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let Self { status, reason, body, head } = self;
        let phrase = phrase(status);
        let length = body.len();
        let mut message = format!(
            "HTTP/1.1 {status} {phrase}\r\n\
             content-type: text/plain; charset=utf-8\r\n\
             content-length: {length}\r\n\
             cache-control: no-store\r\n\
             x-closedbook-reason: {reason}\r\n\
             connection: close\r\n\r\n"
        );
        if !head {
            message.push_str(&body);
        }
        message.into_bytes()
    }
}

fn status(reason: Reason, prefix: &[u8]) -> u16 {
    match reason {
        Reason::HttpMethod if prefix.starts_with(b"PRI ") => 505,
        Reason::HttpMethod => 405,
        Reason::HostMissing | Reason::HostDuplicate | Reason::HttpMalformed | Reason::HttpForm => 400,
        Reason::HostMismatch => 421,
        Reason::HelloTimeout => 408,
        Reason::HelloTooLarge => 431,
        Reason::ResolveFailed | Reason::DialFailed => 502,
        Reason::Limit | Reason::PhaseChanged => 503,
        _ => 403,
    }
}

fn phrase(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Forbidden",
    }
}

/// For the person, or the model, at the other end: what happened, that it was meant, and what would change it.
fn body(refusal: &Refusal) -> String {
    let Refusal { reason, detail } = refusal;
    match status(*reason, b"") {
        502 | 503 => format!("closedbook: {detail}.\nreason: {reason}\n"),
        400..=402 | 404..=499 | 505 => format!(
            "closedbook refused this request: {detail}.\n\
             reason: {reason}\n\
             The request itself is at fault; sending it again changes nothing.\n"
        ),
        _ => format!(
            "closedbook refused this request by policy: {detail}.\n\
             reason: {reason}\n\
             This is no fault of the network. Trying again, or another way, is useless.\n"
        ),
    }
}
