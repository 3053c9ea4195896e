//! The first bytes of a connection, whichever protocol they turn out to be.

use closedbook_policy::Evidence;

use super::Sniff;
use super::client_hello::HelloReader;
use super::http::{Gate, Step};
use super::protocol::{self, Protocol};

/// Reads the prefix of a fresh connection until it is evidence or a refusal.
///
/// ```
/// use closedbook_policy::Evidence;
/// use closedbook_sidecar::evidence::{FirstBytes, Sniff};
///
/// let mut prefix = Vec::new();
/// let mut first = FirstBytes::default();
/// for arrived in ["GET / HT", "TP/1.1\r\nHost: exam", "ple.org\r\n\r\n"] {
///     prefix.extend_from_slice(arrived.as_bytes());
///     match first.read(&prefix) {
///         Sniff::Incomplete => continue,
///         Sniff::Found(Evidence::Http(request)) => assert_eq!(request.host.to_string(), "example.org"),
///         other => unreachable!("{other:?}"),
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct FirstBytes {
    state: State,
    /// How much of the prefix went into the hello reader.
    read: usize,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unknown,
    Tls(HelloReader),
    Http(Box<Gate>),
    Done(Sniff<Evidence>),
}

impl FirstBytes {
    /// Reads on. `prefix` is everything that the connection sent so far; what an earlier call was given is not read
    /// a second time. Once it found or refused something, it says the same for ever.
    pub fn read(&mut self, prefix: &[u8]) -> Sniff<Evidence> {
        if let State::Unknown = self.state {
            match protocol::sniff(prefix) {
                Sniff::Incomplete => {}
                Sniff::Refused(refusal) => self.state = State::Done(Sniff::Refused(refusal)),
                Sniff::Found(Protocol::Tls) => self.state = State::Tls(HelloReader::default()),
                Sniff::Found(Protocol::Http) => self.state = State::Http(Box::default()),
            }
        }
        let sniff = match &mut self.state {
            State::Unknown => Sniff::Incomplete,
            State::Tls(reader) => {
                let news = prefix.get(self.read..).unwrap_or_default();
                self.read += news.len();
                reader.push(news).map(Evidence::Tls)
            }
            State::Http(gate) => match gate.next(prefix) {
                Ok(Step::Head { request, .. }) => Sniff::Found(Evidence::Http(request)),
                Ok(_) => Sniff::Incomplete,
                Err(refusal) => Sniff::Refused(refusal),
            },
            State::Done(sniff) => sniff.clone(),
        };
        if sniff != Sniff::Incomplete {
            self.state = State::Done(sniff.clone());
        }
        sniff
    }
}
