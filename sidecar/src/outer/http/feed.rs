//! What the client sent, and how much of it may be handed on.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use closedbook_policy::{Reason, Refusal, Request};
use tokio::time::Sleep;

use crate::evidence::http::{Gate, Place, Step};

/// From the first byte of a request head to its last, as for the first one of a connection.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// Enough of a refused request to know how to answer it.
const BEGINNING: usize = 16;

/// The gate, with the bytes in front of it and those that it let pass.
pub(super) struct Feed {
    gate: Gate,
    held: BytesMut,
    /// So many of the first bytes held may go on.
    released: usize,
    late: Option<Pin<Box<Sleep>>>,
    refused: Option<Refused>,
    /// Part of the response to the last request may have been written.
    answering: bool,
    waiting: Option<Waker>,
    /// hyper may have bytes of a message that it has not written yet.
    writing: bool,
    /// The rest of an interim response, to be written before anything else.
    owed: Vec<u8>,
}

/// Why the conversation can't go on.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    pub(super) refusal: Refusal,
    /// The first bytes of the request at fault.
    pub(super) beginning: Vec<u8>,
    /// Whether an answer would be read as one: no other is half written.
    pub(super) answerable: bool,
    /// Whether no record speaks of it yet.
    pub(super) unrecorded: bool,
}

/// What can be done next.
pub(super) enum Next {
    /// Hand on some of [`Feed::take`]; with a request, if they are its head.
    Release(Option<Request>),
    /// Read more first.
    Read,
    /// Nothing, before the answer to an upgrade is known.
    Wait,
    /// The end: nothing more is handed on, and what was goes its way.
    End,
    /// The end, in the middle of something.
    Abort(io::Error),
}

impl Feed {
    /// A feed that begins with bytes that were read already.
    pub(super) fn new(prefix: &[u8]) -> Self {
        Self {
            gate: Gate::default(),
            held: BytesMut::from(prefix),
            released: 0,
            late: None,
            refused: None,
            answering: false,
            waiting: None,
            writing: false,
            owed: Vec::new(),
        }
    }

    /// What the gate says to the bytes held.
    pub(super) fn next(&mut self, context: &mut Context<'_>) -> Next {
        if self.released > 0 {
            return Next::Release(None);
        }
        if self.refused.is_some() {
            return self.stop();
        }
        let place = self.gate.place();
        match self.gate.next(&self.held) {
            Ok(Step::Head { request, length }) => {
                self.late = None;
                self.answering = false;
                self.released = length;
                Next::Release(Some(request))
            }
            Ok(Step::Body { length } | Step::Tunnel { length }) => {
                self.released = length;
                Next::Release(None)
            }
            Ok(Step::More) => self.more(context),
            Ok(Step::Held) => {
                self.waiting = Some(context.waker().clone());
                Next::Wait
            }
            Err(refusal) => {
                self.refuse(refusal, place);
                self.stop()
            }
        }
    }

    /// More bytes are needed, and inside a head they are not waited for without end.
    fn more(&mut self, context: &mut Context<'_>) -> Next {
        if self.gate.place() != Place::Head {
            self.late = None;
            return Next::Read;
        }
        let late = self.late.get_or_insert_with(|| Box::pin(tokio::time::sleep(HEAD_TIME)));
        match late.as_mut().poll(context) {
            Poll::Pending => Next::Read,
            Poll::Ready(()) => {
                let refusal = Refusal::new(Reason::HelloTimeout, "no whole request head within the deadline");
                self.refuse(refusal, Place::Head);
                self.stop()
            }
        }
    }

    /// Takes in what was read; no bytes are the client's end.
    pub(super) fn fill(&mut self, news: &[u8]) {
        if !news.is_empty() {
            self.held.extend_from_slice(news);
            return;
        }
        match self.gate.place() {
            Place::Head => {
                let refusal = Refusal::new(Reason::HelloTimeout, "the client closed inside a request head");
                self.refuse(refusal, Place::Head);
            }
            Place::Body => {
                let refusal = Refusal::new(Reason::HttpMalformed, "the client closed inside a request body");
                self.refuse(refusal, Place::Body);
            }
            _ => {}
        }
    }

    /// Hands on up to `most` of what is released.
    pub(super) fn take(&mut self, most: usize) -> BytesMut {
        let length = self.released.min(most).min(self.held.len());
        self.released -= length;
        self.held.split_to(length)
    }

    /// The response to the last request begins: nothing else can be said instead.
    pub(super) fn answering(&mut self) {
        self.answering = true;
    }

    /// The answer to an upgrade is no: what follows is the next request.
    pub(super) fn not_upgraded(&mut self) {
        self.gate.not_upgraded();
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// The answer to an upgrade is yes: everything that is held belongs to the other protocol.
    pub(super) fn upgraded(&mut self) -> BytesMut {
        self.gate.upgraded();
        match self.gate.place() {
            Place::Tunnel => self.held.split(),
            _ => BytesMut::new(),
        }
    }

    /// hyper begins to write, or has written everything.
    pub(super) fn writing(&mut self, writing: bool) {
        self.writing = writing;
    }

    /// Whether an interim response would stand between two messages.
    pub(super) fn may_interject(&self) -> bool {
        !self.writing && self.owed.is_empty()
    }

    /// What of an interim response could not be written yet.
    pub(super) fn owes(&mut self, rest: &[u8]) {
        self.owed = rest.to_vec();
    }

    /// What is to be written before anything else.
    pub(super) fn owed(&mut self) -> &mut Vec<u8> {
        &mut self.owed
    }

    /// Why the conversation can't go on, if it can't.
    pub(super) fn refused(&self) -> Option<Refused> {
        self.refused.clone()
    }

    fn refuse(&mut self, refusal: Refusal, place: Place) {
        let beginning = self.held.chunk().iter().take(BEGINNING).copied().collect();
        let inside = place == Place::Body;
        let answerable = !(inside && self.answering);
        self.refused = Some(Refused { refusal, beginning, answerable, unrecorded: !inside });
    }

    fn stop(&self) -> Next {
        match &self.refused {
            Some(refused) if !refused.unrecorded => Next::Abort(io::ErrorKind::InvalidData.into()),
            _ => Next::End,
        }
    }
}
