//! Copies of refused packets.

use std::fs::File;
use std::io::Read;
use std::net::UdpSocket;

use closedbook_kernel::nft::{PACKET_LOG, SealedPorts, apply, sealed};
use closedbook_kernel::{lo, packet_log, privileges};

use crate::world::namespaced;

namespaced! {
    /// G13, G17: a refused packet is copied to whoever holds the socket, who needs no privilege for it any more.
    fn refused_packets_are_copied_after_privileges_are_gone() {
        apply(&sealed(&SealedPorts::default())).unwrap();
        lo::seal().unwrap();
        let mut copies = File::from(packet_log::open(PACKET_LOG).unwrap());
        privileges::drop_all().unwrap();
        let mut datagram = [0; 1024];
        assert_eq!(copies.read(&mut datagram).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        for _ in 0..2 {
            let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
            assert!(socket.send_to(b"a word that is found", "192.0.2.1:9").is_err());
            let length = copies.read(&mut datagram).unwrap();
            assert!(datagram[..length].windows(20).any(|window| window == b"a word that is found"));
        }
    }
}
