//! UDP ports that answer: `LAB-WITNESS`, the nonce and its proof.

use tokio::net::UdpSocket;

use crate::datagram;
use crate::witness::{Arrival, Kind, Witness, find_nonce};

/// Serves one port until the task is dropped.
pub(crate) async fn serve(socket: UdpSocket, witness: Witness) {
    loop {
        // Errors here are those of earlier answers that could not be delivered (ICMP), or a datagram gone again.
        let Ok(datagram) = datagram::receive(&socket).await else { continue };
        witness.add(Arrival::new(Kind::Udp, &datagram.content).between(datagram.local, datagram.peer));
        let nonce = find_nonce(&datagram.content);
        let _ = datagram::answer(&socket, &datagram, greeting(&witness, nonce.as_deref()).as_bytes()).await;
    }
}

/// What a witness port says to whoever sent it something.
pub(crate) fn greeting(witness: &Witness, nonce: Option<&str>) -> String {
    match nonce {
        Some(nonce) => format!("LAB-WITNESS {nonce} {}\n", witness.proof(nonce)),
        None => "LAB-WITNESS\n".to_owned(),
    }
}
