//! The gate between a socket and an HTTP implementation.

use closedbook_policy::{Refusal, Request, Upgrade};

use super::body::Body;
use super::head::Head;

/// Reads along a connection from the task and says which bytes may be handed on, and when a request is to be judged.
///
/// The caller keeps the bytes that it has read and not handed on yet, and calls [`next`](Self::next) with all of
/// them. It hands on only what a step allows, drops those bytes, and calls again; on [`Step::More`] it reads first.
/// Nothing is looked at twice, however the bytes arrive, and the caller's buffer never needs more than
/// [`MAX_HEAD`](super::MAX_HEAD) octets.
///
/// ```
/// use closedbook_sidecar::evidence::http::{Gate, Place, Step};
///
/// // Two requests in one segment; the second is for somebody else.
/// let mut bytes = b"POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\n\
///                   okGET / HTTP/1.1\r\nHost: b.example\r\n\r\n"
///     .as_slice();
/// let mut gate = Gate::default();
/// let mut hosts = Vec::new();
/// let mut handed_on = Vec::new();
/// while gate.place() != Place::Between || !bytes.is_empty() {
///     let length = match gate.next(bytes) {
///         // Here the policy is asked, before a byte of the head goes on.
///         Ok(Step::Head { request, length }) => {
///             hosts.push(request.host.to_string());
///             if request.host.to_string() != "a.example" {
///                 break;
///             }
///             length
///         }
///         Ok(Step::Body { length } | Step::Tunnel { length }) => length,
///         Ok(Step::More | Step::Held) => break,
///         Err(refusal) => unreachable!("{refusal}"),
///     };
///     handed_on.extend_from_slice(&bytes[..length]);
///     bytes = &bytes[length..];
/// }
/// assert_eq!(hosts, ["a.example", "b.example"]);
/// assert!(handed_on.ends_with(b"\r\n\r\nok"));
/// ```
#[derive(Debug, Default)]
pub struct Gate {
    state: State,
}

#[derive(Debug)]
enum State {
    Head(Head),
    Body(Body),
    Held,
    Tunnel,
    Refused(Refusal),
}

impl Default for State {
    fn default() -> Self {
        State::Head(Head::default())
    }
}

/// What is to be done with the bytes that were shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// None of them may be handed on before more have arrived.
    More,
    /// The first `length` octets are a whole request head. They may be handed on once the policy permits `request`.
    Head {
        /// What the head says.
        request: Request,
        /// Octets of the head, its empty line included.
        length: usize,
    },
    /// The first `length` octets (at least one) are body of the request before them and may be handed on.
    Body {
        /// Octets.
        length: usize,
    },
    /// A websocket was asked for and not answered yet: nothing may be handed on before
    /// [`upgraded`](Gate::upgraded) or [`not_upgraded`](Gate::not_upgraded) says how to read it (RFC 9931).
    Held,
    /// The connection has left HTTP; the first `length` octets (at least one) may be handed on.
    Tunnel {
        /// Octets.
        length: usize,
    },
}

/// Where in the conversation the gate stands. Deadlines hang on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Between requests: not one byte of the next has arrived. The end of the stream is in order here.
    Between,
    /// Inside a request head: the client owes the rest of it.
    Head,
    /// Inside a body.
    Body,
    /// Waiting for the answer to an upgrade.
    Held,
    /// After an upgrade.
    Tunnel,
    /// Something was refused; no byte passes any more.
    Refused,
}

impl Gate {
    /// Judges the bytes that have arrived and were not handed on. After a refusal it refuses the same for ever.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Step, Refusal> {
        let outcome = self.step(bytes);
        if let Err(refusal) = &outcome {
            self.state = State::Refused(refusal.clone());
        }
        outcome
    }

    /// Where the gate stands.
    pub fn place(&self) -> Place {
        match &self.state {
            State::Head(head) if head.is_fresh() => Place::Between,
            State::Head(_) => Place::Head,
            State::Body(_) => Place::Body,
            State::Held => Place::Held,
            State::Tunnel => Place::Tunnel,
            State::Refused(_) => Place::Refused,
        }
    }

    /// The server answered the upgrade with 101: what follows is no HTTP. Without an upgrade that waits for its
    /// answer it does nothing, so that no mistake elsewhere opens a tunnel.
    pub fn upgraded(&mut self) {
        if let State::Held = self.state {
            self.state = State::Tunnel;
        }
    }

    /// The server answered the upgrade with anything else: what follows is the next request.
    pub fn not_upgraded(&mut self) {
        if let State::Held = self.state {
            self.state = State::default();
        }
    }

    fn step(&mut self, bytes: &[u8]) -> Result<Step, Refusal> {
        let length = bytes.len();
        match &mut self.state {
            State::Head(head) => {
                let Some(complete) = head.advance(bytes)? else { return Ok(Step::More) };
                self.state = match (complete.request.upgrade, Body::new(complete.framing)) {
                    (Upgrade::WebSocket, _) => State::Held,
                    (Upgrade::None, Some(body)) => State::Body(body),
                    (Upgrade::None, None) => State::default(),
                };
                Ok(Step::Head { request: complete.request, length: complete.length })
            }
            State::Body(body) => {
                let passed = body.advance(bytes)?;
                if passed.ended {
                    self.state = State::default();
                }
                Ok(if passed.length == 0 { Step::More } else { Step::Body { length: passed.length } })
            }
            State::Held => Ok(Step::Held),
            State::Tunnel if length == 0 => Ok(Step::More),
            State::Tunnel => Ok(Step::Tunnel { length }),
            State::Refused(refusal) => Err(refusal.clone()),
        }
    }
}
