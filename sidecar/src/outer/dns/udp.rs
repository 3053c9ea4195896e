//! DNS over UDP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use closedbook_policy::DnsAnswers;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use crate::evidence::dns::Transport;
use crate::outer::Outer;
use crate::outer::stop::Stop;

/// The largest datagram that there is.
const DATAGRAM: usize = 65_536;

/// Questions under way at once, where answering one means asking upstream. The rest waits in the socket's buffer.
const UNDER_WAY: usize = 512;

/// Serves until `stop`. Answers leave from the socket that was asked, which is how connection tracking finds the way
/// back to the address that the client believes it asked.
pub(crate) async fn serve(outer: Arc<Outer>, socket: UdpSocket, mut stop: Stop) {
    let socket = Arc::new(socket);
    let mut buffer = vec![0; DATAGRAM];
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.told() => break,
            Some(_) = under_way.join_next() => {}
            received = socket.recv_from(&mut buffer), if under_way.len() < UNDER_WAY => {
                // An error here is the answer to an earlier datagram (ICMP), or a want of memory that passes.
                let Ok((length, client)) = received else {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    continue;
                };
                let message = buffer.get(..length).unwrap_or_default();
                match outer.ruling.now().dns_answers() {
                    DnsAnswers::Synthetic => reply(&outer, &socket, message, client).await,
                    DnsAnswers::Real => {
                        let (outer, socket, message) = (Arc::clone(&outer), Arc::clone(&socket), message.to_vec());
                        under_way.spawn(async move { reply(&outer, &socket, &message, client).await });
                    }
                }
            }
        }
    }
    under_way.shutdown().await;
}

async fn reply(outer: &Outer, socket: &UdpSocket, message: &[u8], client: SocketAddr) {
    if let Some(answer) = super::answer(outer, Some(client), message, Transport::Udp).await {
        // A client that does not take its answer asks again.
        let _ = socket.send_to(&answer, client).await;
    }
}
