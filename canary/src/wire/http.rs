//! HTTP/1.1 requests as octets.

use crate::nonce::Nonce;

/// A request without a body, its nonce in the path and in a field, and `connection: close`.
pub fn get(host: &str, nonce: &Nonce) -> Vec<u8> {
    request(
        "GET",
        &format!("/canary?nonce={nonce}"),
        &format!("Host: {host}\r\nConnection: close\r\n"),
        nonce,
    )
}

/// The same, on a connection that is kept.
pub fn get_and_keep(host: &str, nonce: &Nonce) -> Vec<u8> {
    request("GET", &format!("/canary?nonce={nonce}"), &format!("Host: {host}\r\n"), nonce)
}

/// A question for the head alone, on a connection that is kept: nothing of the answer is left over for the next one.
pub fn head_and_keep(host: &str, nonce: &Nonce) -> Vec<u8> {
    request("HEAD", &format!("/canary?nonce={nonce}"), &format!("Host: {host}\r\n"), nonce)
}

/// A request with these field lines (each with its CRLF), and the nonce in a field of its own.
pub fn request(method: &str, target: &str, fields: &str, nonce: &Nonce) -> Vec<u8> {
    format!("{method} {target} HTTP/1.1\r\n{fields}X-Nonce: {nonce}\r\n\r\n").into_bytes()
}

/// A WebSocket handshake (RFC 6455 section 4.1); its key is the one of the RFC's example.
pub fn websocket(host: &str, path: &str) -> Vec<u8> {
    let fields = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}{key}\r\n").into_bytes()
}
