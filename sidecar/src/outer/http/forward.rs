//! One request: decide, reach the server, pass both ways.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, Weak};

use closedbook_policy::{Attempt, Evidence, Permit, Reason, Refusal, Upgrade};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, Version};

use super::answer::Answer;
use super::body::{Broken, Download, Reply, Upload, Word};
use super::exchange::Exchange;
use super::tunnel::Tunnel;
use super::{Head, Talk, headers};
use crate::outer::connection::{decide, describe};

/// Serves one request of a connection.
pub(super) async fn forward(talk: Arc<Talk>, request: Request<Incoming>) -> Result<Response<Reply>, Broken> {
    let head = talk.heads.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    // hyper has nothing but what the gate let pass, one head at a time.
    let Some(head) = head else { return Err(Broken) };
    let permitted = match permit(&talk, &head).await {
        Ok(permitted) => permitted,
        Err(answer) => return Ok(answered(&talk, answer)),
    };
    let (mut exchange, permit) = permitted;
    let permit = match exchange.reach(permit).await {
        Ok(permit) => permit,
        Err(refusal) => {
            exchange.deny(&refusal);
            return Ok(answered(&talk, Answer::new(&refusal, b"")));
        }
    };
    pass(talk, exchange, permit, head, request).await
}

/// The decision, and the place in the registry.
async fn permit(talk: &Arc<Talk>, head: &Head) -> Result<(Exchange, Permit), Answer> {
    let evidence = Evidence::Http(head.request.clone());
    let mut record = talk.record().await.map_err(|refusal| Answer::new(&refusal, b""))?;
    describe(&mut record, &evidence);
    let phase = talk.outer.ruling.now();
    record.decided(&phase);
    let decided = decide(&talk.outer, &phase, Attempt { evidence, original: talk.original });
    let admitted = decided.and_then(|permit| talk.outer.ruling.admit(record.id(), permit, &talk.leash));
    match admitted {
        Ok((permit, flow)) => {
            record.decided(permit.phase());
            record.note(|entry| entry.rule = Some(permit.rule().into()));
            Ok((Exchange::new(Arc::clone(talk), record, flow), permit))
        }
        Err(refusal) => {
            record.deny(&refusal);
            Err(Answer::new(&refusal, b"").remedy(&head.request, talk.original.port(), phase.name()))
        }
    }
}

/// Sends the request on and brings the response back.
async fn pass(
    talk: Arc<Talk>,
    mut exchange: Exchange,
    mut spare: Option<Permit>,
    head: Head,
    mut request: Request<Incoming>,
) -> Result<Response<Reply>, Broken> {
    let websocket = head.request.upgrade == Upgrade::WebSocket;
    let client = hyper::upgrade::on(&mut request);
    let (mut request, uploaded) = for_server(&talk, &head, request);
    exchange.uploads(uploaded);
    let mut response = loop {
        match send(&mut exchange, request).await {
            Ok(response) => break response,
            // The server closed a kept connection just now, and not a byte of the request was sent.
            Err(Some(unsent)) if spare.is_some() => {
                let Some(permit) = spare.take() else { return Err(Broken) };
                request = unsent;
                if let Err(refusal) = exchange.dial(permit).await {
                    exchange.deny(&refusal);
                    return Ok(answered(&talk, Answer::new(&refusal, b"")));
                }
            }
            Err(_) => {
                exchange.broke("the server closed before it answered");
                return Err(Broken);
            }
        }
    };
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let server = hyper::upgrade::on(&mut response);
        if !websocket {
            return Ok(misbehaved(
                &talk,
                exchange,
                "the server switched protocols without having been asked",
            ));
        }
        return switch(&talk, exchange, response, client, server).await;
    }
    if websocket {
        talk.feed().not_upgraded();
    }
    if headers::is_coded(response.headers()) {
        return Ok(misbehaved(&talk, exchange, "the server sent a transfer coding that nobody asked for"));
    }
    headers::end_here(response.headers_mut());
    talk.feed().answering();
    Ok(response.map(|body| Reply::Passed(Box::new(Download::new(body, exchange)))))
}

async fn send(
    exchange: &mut Exchange,
    request: Request<Upload>,
) -> Result<Response<Incoming>, Option<Request<Upload>>> {
    let Some(upstream) = exchange.upstream() else { return Err(Some(request)) };
    let response = upstream.sender.try_send_request(request);
    upstream.drive(response).await.map_err(|mut error| error.take_message())
}

/// The request as the server gets it: re-serialised, for the host that was decided upon.
fn for_server(
    talk: &Arc<Talk>,
    head: &Head,
    request: Request<Incoming>,
) -> (Request<Upload>, Arc<AtomicBool>) {
    let (mut parts, body) = request.into_parts();
    let word = headers::expects_continue(&parts.headers).then(Word::new);
    // A client of HTTP/1.0 knows no interim responses (RFC 9110 section 15.2).
    let early = (parts.version == Version::HTTP_11).then(|| Arc::downgrade(talk));
    headers::for_server(&mut parts.headers, &head.request);
    if head.request.upgrade == Upgrade::WebSocket {
        headers::to_websocket(&mut parts.headers);
    }
    parts.version = Version::HTTP_11;
    let (upload, uploaded) = Upload::new(body, word.as_ref());
    let mut request = Request::from_parts(parts, upload);
    hyper::ext::on_informational(&mut request, move |interim| match (interim.status(), &word) {
        (StatusCode::CONTINUE, Some(word)) => word.give(),
        (StatusCode::CONTINUE, None) => {}
        (status, _) => {
            if let Some(talk) = early.as_ref().and_then(Weak::upgrade) {
                talk.interim(status, interim.headers());
            }
        }
    });
    (request, uploaded)
}

/// The server agreed to a websocket: the response goes back, and the tunnel waits for hyper to let go of both sides.
async fn switch(
    talk: &Arc<Talk>,
    mut exchange: Exchange,
    mut response: Response<Incoming>,
    client: hyper::upgrade::OnUpgrade,
    server: hyper::upgrade::OnUpgrade,
) -> Result<Response<Reply>, Broken> {
    let Some(upstream) = exchange.upstream() else { return Err(Broken) };
    let Ok(server) = upstream.drive(server).await else {
        exchange.broke("the server closed when it had agreed to a websocket");
        return Err(Broken);
    };
    let tunnel = Tunnel::new(exchange, client, server).ok_or(Broken)?;
    *talk.tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
    headers::end_here(response.headers_mut());
    headers::to_websocket(response.headers_mut());
    talk.feed().answering();
    Ok(response.map(|_| Reply::Own(Default::default())))
}

fn misbehaved(talk: &Talk, exchange: Exchange, what: &'static str) -> Response<Reply> {
    let refusal = Refusal::new(Reason::DialFailed, what);
    exchange.deny(&refusal);
    answered(talk, Answer::new(&refusal, b""))
}

/// An answer of our own ends the connection.
fn answered(talk: &Talk, answer: Answer) -> Response<Reply> {
    talk.feed().answering();
    answer.into_response().map(Reply::Own)
}
