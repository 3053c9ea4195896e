//! Plain HTTP, request by request.

use std::net::SocketAddr;
use std::sync::Arc;

use super::Outer;
use super::log::Record;
use super::socket::Socket;

pub(super) mod answer;

pub(super) async fn serve(
    _outer: &Arc<Outer>,
    _client: Socket,
    _original: SocketAddr,
    _bytes: Vec<u8>,
    record: Record,
) {
    drop(record);
}
