//! One request with its response, from the permit to the record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Context;

use closedbook_policy::{Permit, Reason, Refusal};

use super::upstream::Upstream;
use super::{Parked, Talk, take};
use crate::outer::log::Record;
use crate::outer::ruling::Flow;

/// A permitted request under way. Ended by [`finish`](Self::finish) or [`broke`](Self::broke); dropped before that, it
/// says in the record who ended it.
pub(super) struct Exchange {
    upstream: Option<Upstream>,
    record: Option<Record>,
    /// Whether the request's body was passed to its end: before, the connection is good for nothing else.
    uploaded: Arc<AtomicBool>,
    flow: Option<Flow>,
    talk: Arc<Talk>,
}

impl Exchange {
    pub(super) fn new(talk: Arc<Talk>, record: Record, flow: Flow) -> Self {
        let uploaded = Arc::new(AtomicBool::new(false));
        Self { upstream: None, record: Some(record), uploaded, flow: Some(flow), talk }
    }

    /// Finds a connection for the permit: the one of the request before, if it leads there and still lives, and then
    /// the permit comes back; otherwise it is dialled.
    pub(super) async fn reach(&mut self, permit: Permit) -> Result<Option<Permit>, Refusal> {
        if let Some(Parked { mut upstream, .. }) = take(&self.talk.parked) {
            let dialler = &self.talk.outer.dialler;
            let fits = upstream.leads_to(&permit) && dialler.may_reuse(upstream.address(), &permit);
            if fits && upstream.is_ready().await {
                self.carry_on(upstream)?;
                return Ok(Some(permit));
            }
            upstream.settle();
        }
        self.dial(permit).await.map(|()| None)
    }

    /// Dials.
    pub(super) async fn dial(&mut self, permit: Permit) -> Result<(), Refusal> {
        let dialled = self.talk.outer.dialler.dial(permit).await?;
        let upstream = Upstream::new(dialled).await;
        let upstream = upstream.map_err(|error| Refusal::new(Reason::DialFailed, error.to_string()))?;
        self.carry_on(upstream)
    }

    fn carry_on(&mut self, upstream: Upstream) -> Result<(), Refusal> {
        if let Some(record) = &mut self.record {
            record.note(|entry| entry.dialled = Some(upstream.address()));
            record.opened();
        }
        if let Some(flow) = &self.flow {
            let client = Arc::clone(&self.talk.client);
            flow.reached(upstream.address(), upstream.line(client))?;
        }
        self.upstream = Some(upstream);
        Ok(())
    }

    /// The connection, while there is one.
    pub(super) fn upstream(&mut self) -> Option<&mut Upstream> {
        self.upstream.as_mut()
    }

    /// Where it is told that the request's body was passed.
    pub(super) fn uploads(&mut self, ended: Arc<AtomicBool>) {
        self.uploaded = ended;
    }

    /// Lets the server's connection do its work.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) {
        if let Some(upstream) = &mut self.upstream {
            upstream.poll(context);
        }
    }

    /// Both the request and the response are through. The connection is kept for the next request, and stays in the
    /// registry: a switch of phase ends what it would refuse.
    pub(super) fn finish(&mut self) {
        let flow = self.flow.take();
        let cut = flow.as_ref().and_then(|flow| flow.cut(&self.talk.leash));
        match (self.close(), cut) {
            (Some(record), Some(cut)) => record.cut(&cut),
            (Some(record), None) => record.allow(),
            (None, _) => {}
        }
        let Some(upstream) = self.upstream.take() else { return };
        if self.uploaded.load(Ordering::Acquire)
            && let Some(flow) = flow
            && let Ok(mut parked) = self.talk.parked.lock()
        {
            flow.rest();
            *parked = Some(Parked { upstream, _flow: flow });
        }
    }

    /// It was refused after all: it could not be resolved or dialled, or may not be.
    pub(super) fn deny(mut self, refusal: &Refusal) {
        if let Some(record) = self.close() {
            record.deny(refusal);
        }
    }

    /// One of the two sides ended it too early.
    pub(super) fn broke(&mut self, who: &'static str) {
        if self.record.is_none() {
            // Ended already, or handed on.
            return;
        }
        if let Some(upstream) = &self.upstream {
            // Out of the registry, nothing may be under way.
            upstream.abort();
        }
        let cut = self.flow.as_ref().and_then(|flow| flow.cut(&self.talk.leash));
        let record = self.close();
        drop(self.upstream.take());
        let Some(record) = record else { return };
        let refused = self.talk.feed().refused().filter(|refused| !refused.unrecorded);
        match (cut, refused) {
            (Some(cut), _) => record.cut(&cut),
            // It says by itself that it was stopped.
            _ if self.talk.outer.stopping.load(Ordering::Acquire) => drop(record),
            (None, Some(refused)) => record.deny(&refused.refusal),
            (None, None) => record.allow_with(who),
        }
    }

    /// For a connection that leaves HTTP: its record and its place in the registry.
    pub(super) fn into_parts(mut self) -> Option<(Record, Flow)> {
        let flow = self.flow.take();
        self.close().zip(flow)
    }

    /// Counts the bytes, takes it off the registry, and gives the record to be ended.
    fn close(&mut self) -> Option<Record> {
        let record = self.record.take()?;
        if let Some(upstream) = &self.upstream {
            let (up, down) = upstream.take_counts();
            record.moved().up.fetch_add(up, Ordering::Relaxed);
            record.moved().down.fetch_add(down, Ordering::Relaxed);
        }
        self.flow = None;
        Some(record)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.broke("the client left before the response was whole");
    }
}
