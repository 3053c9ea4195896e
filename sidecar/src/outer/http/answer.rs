//! What a refused request is answered.

use bytes::Bytes;
use closedbook_policy::{Reason, Refusal, Request};
use http_body_util::Full;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

use super::headers::authority;

/// An answer of closedbook's own: for the person, or the model, at the other end. It says what happened, that it was
/// meant, and what would change it.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    reason: Reason,
    body: String,
    /// The request was HEAD: the answer says how long its body would be, and has none (RFC 9110 section 9.3.2).
    head: bool,
}

impl Answer {
    /// The answer to the request that begins with `beginning`.
    pub(crate) fn new(refusal: &Refusal, beginning: &[u8]) -> Self {
        let status = status(refusal.reason, beginning);
        let reason = refusal.reason;
        Self { status, reason, body: body(status, refusal), head: beginning.starts_with(b"HEAD ") }
    }

    /// Adds the entry that would permit the request, where there is one.
    pub(crate) fn remedy(mut self, request: &Request, port: u16, phase: &str) -> Self {
        let scheme = match self.reason {
            Reason::NameNotAllowed | Reason::PortNotAllowed | Reason::AddressNotAllowed => "",
            Reason::HttpUpgrade => "ws://",
            _ => return self,
        };
        let request = Request { port: (port != 80).then_some(port), ..request.clone() };
        let entry = format!("{scheme}{}", authority(&request));
        self.body.push_str(&format!("An entry that would permit it in phase {phase}: {entry}\n"));
        self
    }

    /// For hyper to write.
    pub(super) fn into_response(self) -> Response<Full<Bytes>> {
        let headers = self.headers();
        let mut response = Response::new(Full::from(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = headers;
        response
    }

    /// The whole message, where no HTTP implementation stands between.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let headers = self.headers();
        let mut message = format!("HTTP/1.1 {}\r\n", self.status).into_bytes();
        for (name, value) in &headers {
            message.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        message.extend(b"\r\n");
        if !self.head {
            message.extend(self.body.as_bytes());
        }
        message
    }

    fn headers(&self) -> HeaderMap {
        let fixed = HeaderValue::from_static;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, fixed("text/plain; charset=utf-8"));
        headers.insert(header::CONTENT_LENGTH, self.body.len().into());
        headers.insert(header::CACHE_CONTROL, fixed("no-store"));
        headers.insert(HeaderName::from_static("x-closedbook-reason"), fixed(self.reason.word()));
        headers.insert(header::CONNECTION, fixed("close"));
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            // RFC 9110 section 15.5.6 asks for it.
            headers.insert(header::ALLOW, fixed("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"));
        }
        headers
    }
}

fn status(reason: Reason, beginning: &[u8]) -> StatusCode {
    match reason {
        Reason::HttpMethod if beginning.starts_with(b"PRI ") => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
        Reason::HttpMethod => StatusCode::METHOD_NOT_ALLOWED,
        Reason::HostMissing | Reason::HostDuplicate | Reason::HttpMalformed | Reason::HttpForm => {
            StatusCode::BAD_REQUEST
        }
        Reason::HostMismatch => StatusCode::MISDIRECTED_REQUEST,
        Reason::HelloTimeout => StatusCode::REQUEST_TIMEOUT,
        Reason::HelloTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Reason::ResolveFailed | Reason::DialFailed => StatusCode::BAD_GATEWAY,
        Reason::Limit | Reason::PhaseChanged => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::FORBIDDEN,
    }
}

fn body(status: StatusCode, refusal: &Refusal) -> String {
    let Refusal { reason, detail } = refusal;
    let (what, so) = match status {
        StatusCode::FORBIDDEN => (
            "refused this request by policy",
            "This is no fault of the network. Trying again, or another way, is useless.\n",
        ),
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE => ("could not serve this request", ""),
        _ => ("refused this request", "The request itself is at fault; sending it again is useless.\n"),
    };
    format!("closedbook {what}: {detail}.\nreason: {reason}\n{so}")
}
