//! A DNS server on loopback.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::{RData, Record, RecordType};
use tokio::net::UdpSocket;

/// The server, and what it was asked.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    zone: Arc<Mutex<Zone>>,
    quiet: Arc<AtomicBool>,
    silent: Arc<Mutex<HashSet<String>>>,
}

type Zone = HashMap<String, Vec<IpAddr>>;

impl Names {
    pub(crate) async fn serve(names: &[(&str, &[&str])]) -> Self {
        let zone: Zone = names.iter().map(|(name, list)| (format!("{name}."), addresses(list))).collect();
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let (asked, zone) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(zone)));
        let (quiet, silent) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let hears = (Arc::clone(&quiet), Arc::clone(&silent));
        tokio::spawn(answer(socket, Arc::clone(&asked), Arc::clone(&zone), hears));
        Self { address, asked, zone, quiet, silent }
    }

    /// Whether it hears and says nothing.
    pub(crate) fn quiet(&self, quiet: bool) {
        self.quiet.store(quiet, Ordering::Relaxed);
    }

    /// The questions so far, as `name. TYPE`.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Leaves questions for a name without an answer.
    pub(crate) fn silence(&self, name: &str) {
        self.silent.lock().unwrap().insert(format!("{name}."));
    }

    /// Changes what a name stands for.
    pub(crate) fn set(&self, name: &str, list: &[&str]) {
        self.zone.lock().unwrap().insert(format!("{name}."), addresses(list));
    }
}

fn addresses(list: &[&str]) -> Vec<IpAddr> {
    list.iter().map(|address| address.parse().unwrap()).collect()
}

async fn answer(
    socket: UdpSocket,
    asked: Arc<Mutex<Vec<String>>>,
    zone: Arc<Mutex<Zone>>,
    (quiet, silent): (Arc<AtomicBool>, Arc<Mutex<HashSet<String>>>),
) {
    let mut buffer = [0; 4096];
    while let Ok((length, client)) = socket.recv_from(&mut buffer).await {
        let query = Message::from_vec(&buffer[..length]).unwrap();
        let question = query.queries[0].clone();
        let name = question.name().to_string().to_ascii_lowercase();
        asked.lock().unwrap().push(format!("{name} {}", question.query_type()));
        if quiet.load(Ordering::Relaxed) || silent.lock().unwrap().contains(&name) {
            continue;
        }
        let mut reply = Message::response(query.metadata.id, query.metadata.op_code);
        reply.metadata.message_type = MessageType::Response;
        reply.metadata.recursion_desired = true;
        reply.metadata.recursion_available = true;
        reply.add_query(question.clone());
        match zone.lock().unwrap().get(&name) {
            None => reply.metadata.response_code = ResponseCode::NXDomain,
            Some(list) => {
                for address in list {
                    let data = match (address, question.query_type()) {
                        (IpAddr::V4(address), RecordType::A) => RData::A((*address).into()),
                        (IpAddr::V6(address), RecordType::AAAA) => RData::AAAA((*address).into()),
                        _ => continue,
                    };
                    // Not kept, so that a test can change its mind.
                    reply.add_answer(Record::from_rdata(question.name().clone(), 0, data));
                }
            }
        }
        let reply = reply.to_vec().unwrap();
        let _ = socket.send_to(&reply, client).await;
    }
}
