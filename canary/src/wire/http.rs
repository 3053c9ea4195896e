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
