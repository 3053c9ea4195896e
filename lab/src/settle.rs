//! A barrier: what was sent before it has been written down when it returns, so absence means absence.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::net::UdpSocket;

use crate::ports;
use crate::witness::{Kind, Witness, fresh_nonce};

/// On loopback, with the queue of a loaded machine before it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends a mark down each queue and waits until it has come out. Queues are first in, first out, so all that was
/// queued earlier has come out too.
pub(crate) async fn settle(witness: &Witness) -> bool {
    let nonce = fresh_nonce();
    let sent = async {
        // To itself: a port of the moment, that no server of ours holds, so only the tap can see the datagram.
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        socket.send_to(nonce.as_bytes(), socket.local_addr()?).await?;
        socket.send_to(&question(&nonce), (Ipv4Addr::LOCALHOST, ports::DNS)).await
    };
    if sent.await.is_err() {
        return false;
    }
    let came = async |kind| {
        witness.seen(|seen| seen.proto == kind && seen.carries(&nonce), PATIENCE).await.is_some()
    };
    came(Kind::Udp).await && came(Kind::Dns).await
}

/// A question for `NONCE.test`, type A (RFC 1035 section 4.1).
fn question(nonce: &str) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in [nonce, "test"] {
        // A fresh nonce is 22 octets long.
        bytes.push(u8::try_from(label.len()).unwrap_or(0));
        bytes.extend(label.bytes());
    }
    bytes.extend([0, 0, 1, 0, 1]);
    bytes
}
