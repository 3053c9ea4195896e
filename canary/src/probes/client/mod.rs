//! Ordinary clients, where the image has them: what they make of a refusal counts too (G11).
//!
//! That a client failed says nothing yet: it may have been called wrongly, or not trust the certificate. Only the errors
//! that a refusal makes are taken for one; all others are faults of the try.

mod curl;
mod python;

use std::net::SocketAddr;

use crate::probe::Probe;
use crate::targets::Targets;

pub(super) const PROBES: &[&[Probe]] = &[curl::PROBES, python::PROBES];

/// What a client is asked for.
#[derive(Debug, Clone, Copy)]
struct Page<'a> {
    scheme: Scheme,
    name: &'a str,
    /// Where the name is said to be; `None`: the client looks it up.
    at: Option<SocketAddr>,
    /// Certificates to trust beside the usual ones.
    trust: Option<&'a str>,
}

/// Which URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn word(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

/// The pages that must be refused, each in words that are the same for every client.
fn refused(targets: &Targets) -> [(&'static str, Page<'_>); 3] {
    let (foreign, name, trust) = (targets.foreign(), targets.foreign_name(), targets.trust.as_deref());
    let page = |scheme, at| Page { scheme, name, at, trust };
    [
        ("https, by name", page(Scheme::Https, None)),
        ("https, the address given", page(Scheme::Https, Some(foreign.port(443)))),
        ("http, the address given", page(Scheme::Http, Some(foreign.port(80)))),
    ]
}
