//! A small world for the tests: a proxy whose clients aim where they like, and an internet of servers on loopback.
//!
//! What would need nftables or a route is put in by hand: where a client aimed is told to the proxy by the client's
//! own port, and an address of the made-up internet leads to a server on loopback.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};

use closedbook_policy::{Name, Policy};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::dial::{Connect, Dialler};
use super::own::Own;
use super::resolve::Resolver;
use super::{
    Config, CutFlow, Limits, Listeners, LogTo, Monitor, Order, Outer, Proxy, Regime, Ruling, Summary,
    Upstreams, WhenFull, Widen,
};

pub(crate) mod hello;
pub(crate) mod names;
pub(crate) mod web;

use names::Names;

/// What is put in by hand.
#[derive(Debug, Default)]
struct Wiring {
    /// By a client's own address, where it aimed.
    aims: Mutex<HashMap<SocketAddr, SocketAddr>>,
    /// By an address of the made-up internet, the server there.
    servers: Mutex<HashMap<SocketAddr, SocketAddr>>,
    /// What was dialled, in order.
    dialled: Mutex<Vec<SocketAddr>>,
    /// Addresses that never answer.
    silent: Mutex<HashSet<SocketAddr>>,
}

/// The world.
pub(crate) struct World {
    wiring: Arc<Wiring>,
    pub(crate) names: Names,
    pub(crate) ruling: Arc<Ruling>,
    pub(crate) regime: Arc<Regime>,
    pub(crate) policy: Policy,
    pub(crate) monitor: Monitor,
    outer: Weak<Outer>,
    proxy: SocketAddr,
    pub(crate) dns: SocketAddr,
    pub(crate) dns_tcp: SocketAddr,
    log: File,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Summary>,
}

impl World {
    /// A world under phase `agent` of this policy, with these names.
    pub(crate) async fn new(policy: &str, names: &[(&str, &[&str])]) -> Self {
        Self::with(policy, names, Limits::default(), tempfile::tempfile().unwrap()).await
    }

    /// The same with these limits and this log.
    pub(crate) async fn with(policy: &str, names: &[(&str, &[&str])], limits: Limits, log: File) -> Self {
        let policy = Policy::from_toml(policy).unwrap();
        let names = Names::serve(names).await;
        let wiring = Arc::new(Wiring::default());
        let upstreams = Upstreams::Servers(vec![names.address]);
        let config = Config {
            table: None,
            policy: policy.clone(),
            phase: "agent".into(),
            upstreams: upstreams.clone(),
            log: Some(LogTo {
                file: log.try_clone().unwrap(),
                opens: false,
                when_full: WhenFull::Stop,
                rotation: None,
            }),
            metrics: None,
            limits,
            journal: None,
            widen: Widen::Free,
            control: None,
        };
        let dialler =
            Dialler::through(Resolver::new(&upstreams).unwrap(), Own::open().unwrap(), wiring.connect());
        let aims = Arc::clone(&wiring);
        let original = move |stream: &TcpStream| {
            let client = stream.peer_addr()?;
            aims.aims.lock().unwrap().get(&client).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
        };
        let proxy = Proxy::with(config, dialler, Arc::new(original)).unwrap();
        let (regime, monitor) = (proxy.regime(), proxy.monitor());
        let ruling = Arc::clone(regime.ruling());
        let outer = Arc::downgrade(&proxy.outer);
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let dns_udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let dns = dns_udp.local_addr().unwrap();
        let dns_stream = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let dns_tcp = dns_stream.local_addr().unwrap();
        let address = tcp.local_addr().unwrap();
        let listeners =
            Listeners { tcp: vec![tcp], dns_udp: vec![dns_udp], dns_tcp: vec![dns_stream], packet_log: None };
        let (stop, stopped) = oneshot::channel::<()>();
        let running =
            tokio::spawn(async move { proxy.run(listeners, async { drop(stopped.await) }).await.unwrap() });
        Self {
            wiring,
            names,
            ruling,
            regime,
            policy,
            monitor,
            outer,
            proxy: address,
            dns,
            dns_tcp,
            log,
            stop,
            running,
        }
    }

    /// Puts a server at an address of the made-up internet.
    pub(crate) async fn server<F>(&self, address: &str, serve: impl Fn(TcpStream) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        // A burst of connections must not wait for SYNs to be sent again.
        socket2::SockRef::from(&listener).listen(4096).unwrap();
        let real = listener.local_addr().unwrap();
        self.wiring.servers.lock().unwrap().insert(address.parse().unwrap(), real);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
    }

    /// Makes an address of the made-up internet one that nothing comes back from.
    pub(crate) fn silence(&self, address: &str) {
        self.wiring.silent.lock().unwrap().insert(address.parse().unwrap());
    }

    /// Whether nobody listens any more.
    pub(crate) async fn is_closed(&self) -> bool {
        TcpStream::connect(self.proxy).await.is_err()
    }

    /// The proxy itself.
    pub(crate) fn outer(&self) -> Arc<Outer> {
        self.outer.upgrade().unwrap()
    }

    /// Puts another phase in force; what that cut.
    pub(crate) async fn switch(&self, phase: &str) -> Vec<CutFlow> {
        self.regime.set_phase(phase, Order { widen: true, ..Order::default() }).await.unwrap().cut
    }

    /// A connection of the task, aimed at this address.
    pub(crate) async fn connect(&self, aim: &str) -> TcpStream {
        self.connect_by(self.socket(aim)).await.unwrap()
    }

    /// A socket of the task that will be aimed at this address.
    pub(crate) fn socket(&self, aim: &str) -> TcpSocket {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let own = socket.local_addr().unwrap();
        self.wiring.aims.lock().unwrap().insert(own, aim.parse().unwrap());
        socket
    }

    /// Connects it.
    pub(crate) async fn connect_by(&self, socket: TcpSocket) -> io::Result<TcpStream> {
        socket.connect(self.proxy).await
    }

    /// Sends this to where `aim` says, and returns all that comes back until the end, and whether it was reset.
    pub(crate) async fn exchange(&self, aim: &str, bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut stream = self.connect(aim).await;
        // A refusal may come before everything is written.
        let _ = stream.write_all(bytes).await;
        drain(&mut stream).await
    }

    /// The address that DNS hands out for a name.
    pub(crate) fn lease(&self, name: &str) -> std::net::Ipv4Addr {
        self.outer.upgrade().unwrap().leases.address(&Name::parse(name).unwrap()).unwrap()
    }

    /// What was dialled so far.
    pub(crate) fn dialled(&self) -> Vec<String> {
        self.wiring.dialled.lock().unwrap().iter().map(SocketAddr::to_string).collect()
    }

    /// Stops the proxy and returns what it says about itself, and its log.
    pub(crate) async fn end(mut self) -> (Summary, Vec<Value>) {
        drop(self.stop);
        let summary = self.running.await.unwrap();
        let mut text = String::new();
        self.log.rewind().unwrap();
        self.log.read_to_string(&mut text).unwrap();
        (summary, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// Stops the proxy, whose log is not a file.
    pub(crate) async fn stop(self) -> Summary {
        drop(self.stop);
        self.running.await.unwrap()
    }

    /// Stops the proxy and returns the one line of its log.
    pub(crate) async fn end_with_one(self) -> Value {
        let (_, mut lines) = self.end().await;
        assert_eq!(lines.len(), 1, "{lines:#?}");
        lines.remove(0)
    }
}

impl Wiring {
    fn connect(self: &Arc<Self>) -> Connect {
        let wiring = Arc::clone(self);
        Arc::new(move |address| {
            wiring.dialled.lock().unwrap().push(address);
            let server = wiring.servers.lock().unwrap().get(&address).copied();
            let silent = wiring.silent.lock().unwrap().contains(&address);
            Box::pin(async move {
                if silent {
                    std::future::pending::<()>().await;
                }
                match server {
                    Some(server) => TcpStream::connect(server).await,
                    None => Err(io::ErrorKind::ConnectionRefused.into()),
                }
            })
        })
    }
}

/// Reads to the end; whether it was a reset.
pub(crate) async fn drain(stream: &mut TcpStream) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let reset = stream.read_to_end(&mut bytes).await.is_err();
    (bytes, reset)
}

/// A server that gives back what it gets, and its end.
pub(crate) async fn echo(mut stream: TcpStream) {
    let (mut read, mut write) = stream.split();
    if tokio::io::copy(&mut read, &mut write).await.is_ok() {
        let _ = write.shutdown().await;
    }
}
