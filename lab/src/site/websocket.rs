//! RFC 6455: every message comes back.

use futures_util::{SinkExt, StreamExt};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::{Body, body};

/// Answers the handshake. Over HTTP/2 (RFC 8441) the answer is 200 and there is no key.
pub(super) fn upgrade(mut request: Request<Incoming>) -> Response<Body> {
    if request.extensions().get::<hyper::ext::Protocol>().is_some_and(|one| one.as_str() == "websocket") {
        tokio::spawn(converse(hyper::upgrade::on(&mut request)));
        return Response::new(body::full(""));
    }
    let asks = request
        .headers()
        .get(UPGRADE)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    let key = request.headers().get(SEC_WEBSOCKET_KEY).map(|key| derive_accept_key(key.as_bytes()));
    let Some(accept) = key.filter(|_| asks).and_then(|accept| HeaderValue::from_str(&accept).ok()) else {
        let mut response = body::text(StatusCode::UPGRADE_REQUIRED, "expected a WebSocket handshake\n");
        response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
        return response;
    };
    tokio::spawn(converse(hyper::upgrade::on(&mut request)));
    let mut response = Response::new(body::full(""));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
    response.headers_mut().insert(SEC_WEBSOCKET_ACCEPT, accept);
    response
}

async fn converse(upgrade: hyper::upgrade::OnUpgrade) {
    let Ok(upgraded) = upgrade.await else { return };
    let io: TokioIo<Upgraded> = TokioIo::new(upgraded);
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
    // Pings and the closing handshake are answered by the library as messages are read.
    while let Some(Ok(message)) = socket.next().await {
        if (message.is_text() || message.is_binary()) && socket.send(message).await.is_err() {
            return;
        }
    }
}
