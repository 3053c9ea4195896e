use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use closedbook_policy::{Attempt, Evidence, Hello, Name, Permit, Policy, Reason};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use super::{Connect, Dialler, STAGGER};
use crate::outer::own::Own;
use crate::outer::resolve::{Resolver, Upstreams};
use crate::outer::testing::names::Names;

const POLICY: &str = r#"
    schema = 1
    phase.agent.allow = ["a.example", "routed.example", "10.1.0.0/16"]
    [route]
    "routed.example" = "10.9.9.9:8443"
"#;

#[derive(Clone, Copy)]
enum Server {
    Answers,
    Refuses,
    Silent,
}

/// A dialler whose internet is this table; an address that is not in it refuses.
async fn dialler(
    names: &[(&str, &[&str])],
    servers: &[(&str, Server)],
) -> (Dialler, Arc<Mutex<Vec<(SocketAddr, Instant)>>>) {
    let names = Names::serve(names).await;
    let resolver = Resolver::new(&Upstreams::Servers(vec![names.address])).unwrap();
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
    let servers: HashMap<SocketAddr, Server> =
        servers.iter().map(|(address, server)| (address.parse().unwrap(), *server)).collect();
    let tried = Arc::new(Mutex::new(Vec::new()));
    let tries = Arc::clone(&tried);
    let connect: Connect = Arc::new(move |address| {
        tries.lock().unwrap().push((address, Instant::now()));
        let (server, listener) = (servers.get(&address).copied(), Arc::clone(&listener));
        Box::pin(async move {
            match server {
                Some(Server::Answers) => TcpStream::connect(listener.local_addr()?).await,
                Some(Server::Silent) => std::future::pending().await,
                Some(Server::Refuses) | None => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        })
    });
    (Dialler::through(resolver, Own::open().unwrap(), connect), tried)
}

fn permit(evidence: &str) -> Permit {
    let policy = Policy::from_toml(POLICY).unwrap();
    let (server_name, original) = match evidence.parse::<SocketAddr>() {
        Ok(address) => (None, address),
        Err(_) => (Some(Name::parse(evidence).unwrap()), "198.18.0.1:443".parse().unwrap()),
    };
    let hello = Hello { server_name, ech: false };
    policy.phase("agent").unwrap().decide(Attempt { evidence: Evidence::Tls(hello), original }).unwrap()
}

/// G3: a name is dialled where the resolver says.
#[tokio::test]
async fn by_name() {
    let (dialler, _) =
        dialler(&[("a.example", &["203.0.113.1"])], &[("203.0.113.1:443", Server::Answers)]).await;
    let dialled = dialler.dial(permit("a.example")).await.unwrap();
    assert_eq!(dialled.address.to_string(), "203.0.113.1:443");
}

/// G3: an address is dialled as it is, and a route leads where it says.
#[tokio::test]
async fn by_address_and_by_route() {
    let (dialler, _) =
        dialler(&[], &[("10.1.2.3:443", Server::Answers), ("10.9.9.9:8443", Server::Answers)]).await;
    let dialled = dialler.dial(permit("10.1.2.3:443")).await.unwrap();
    assert_eq!(dialled.address.to_string(), "10.1.2.3:443");
    let dialled = dialler.dial(permit("routed.example")).await.unwrap();
    assert_eq!(dialled.address.to_string(), "10.9.9.9:8443");
}

/// G9: a permitted name that resolves to a private, loopback, metadata or own address is not dialled.
#[tokio::test]
async fn rebinding() {
    for address in [
        "10.0.0.1",
        "192.168.1.1",
        "127.0.0.1",
        "127.0.0.2",
        "169.254.169.254",
        "0.0.0.0",
        "::1",
        "fe80::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "198.18.0.5",
        "fd00::1",
        "100.64.0.1",
        "224.0.0.1",
    ] {
        let server =
            if address.contains(':') { format!("[{address}]:443") } else { format!("{address}:443") };
        let (dialler, tried) = dialler(&[("a.example", &[address])], &[(&server, Server::Answers)]).await;
        let refusal = dialler.dial(permit("a.example")).await.unwrap_err();
        assert_eq!(refusal.reason, Reason::PrivateAddress, "{address}: {}", refusal.detail);
        assert!(tried.lock().unwrap().is_empty(), "{address}");
    }
}

/// G9: of several addresses, those that may not be dialled are left out.
#[tokio::test]
async fn mixed_answers() {
    let (dialler, tried) = dialler(
        &[("a.example", &["127.0.0.1", "10.0.0.1", "203.0.113.1"])],
        &[("203.0.113.1:443", Server::Answers)],
    )
    .await;
    dialler.dial(permit("a.example")).await.unwrap();
    assert_eq!(tried.lock().unwrap().len(), 1);
}

/// G12: an address that is silent delays by the stagger, one that refuses not at all.
#[tokio::test]
async fn happy_eyeballs() {
    let (dialler, tried) = dialler(
        &[("a.example", &["2001:db8::1", "2001:db8::2", "203.0.113.1", "203.0.113.2"])],
        &[
            ("[2001:db8::1]:443", Server::Silent),
            ("203.0.113.1:443", Server::Refuses),
            ("[2001:db8::2]:443", Server::Silent),
            ("203.0.113.2:443", Server::Answers),
        ],
    )
    .await;
    let dialled = dialler.dial(permit("a.example")).await.unwrap();
    assert_eq!(dialled.address.to_string(), "203.0.113.2:443");
    let tried = tried.lock().unwrap();
    let order: Vec<_> = tried.iter().map(|(address, _)| address.to_string()).collect();
    assert_eq!(order, ["[2001:db8::1]:443", "203.0.113.1:443", "[2001:db8::2]:443", "203.0.113.2:443"]);
    assert!(tried[1].1 - tried[0].1 >= STAGGER);
    assert!(tried[3].1 - tried[2].1 >= STAGGER);
}

/// A server that never answers is given up.
#[tokio::test(start_paused = true)]
async fn silent_server() {
    let (dialler, _) = dialler(&[], &[("10.1.2.3:443", Server::Silent)]).await;
    let refusal = dialler.dial(permit("10.1.2.3:443")).await.unwrap_err();
    assert_eq!(refusal.reason, Reason::DialFailed);
}
