//! Starting the servers, and what they share.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::authority::Authority;
use crate::fault::Faults;
use crate::tape::{Recording, Tape};
use crate::tcp::First;
use crate::witness::tap::Tap;
use crate::witness::{Kind, Witness};
use crate::{LabError, World, dns, listen, ports, settle, tcp, udp};

/// What every server of a lab knows.
pub(crate) struct Lab {
    pub(crate) world: World,
    pub(crate) witness: Witness,
    pub(crate) tape: Tape,
    pub(crate) faults: Arc<Faults>,
    pub(crate) tls: TlsAcceptor,
    /// Changes when the lab ends: conversations end with it.
    pub(crate) end: watch::Receiver<bool>,
}

/// A lab whose servers are all listening. Dropping it ends them.
pub struct Running {
    lab: Arc<Lab>,
    authority: Arc<Authority>,
    /// Held for its drop, which ends them.
    _servers: JoinSet<()>,
    end: watch::Sender<bool>,
    sctp: Sctp,
}

/// Whether the lab answers SCTP. Its packets are seen by the witness either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sctp {
    /// It does.
    Served,
    /// The kernel has no SCTP.
    NotInKernel,
}

/// Starts all servers of the lab in the current network namespace, on every address it has. When this returns they are
/// listening; they end when `stop` does, or when the value is dropped.
///
/// Wants a namespace of its own, with CAP_NET_RAW for the packet tap and CAP_NET_BIND_SERVICE for the low ports.
pub async fn serve(
    world: World,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<Running, LabError> {
    let witness = Witness::new(world.log().map(AsRef::as_ref))?;
    let authority = Arc::new(Authority::new()?);
    let faults = Arc::new(Faults::default());
    let tls = TlsAcceptor::from(Arc::new(authority.server(faults.clone())?));
    let (end, ended) = watch::channel(false);
    let lab = Arc::new(Lab { world, witness, tape: Tape::default(), faults, tls, end: ended });
    let mut servers = JoinSet::new();
    // The tap comes first: nothing may arrive unseen.
    servers.spawn(Tap::open()?.watch(lab.witness.clone()));
    servers.spawn(dns::serve_udp(listen::udp(ports::DNS)?, lab.clone()));
    servers.spawn(dns::serve_tcp(listen::tcp(ports::DNS)?, lab.clone()));
    for port in ports::tcp() {
        let first = if ports::SERVER_FIRST.contains(&port) { First::Server } else { First::Client };
        servers.spawn(tcp::serve(listen::tcp(port)?, lab.clone(), Kind::Tcp, first));
    }
    for port in ports::udp() {
        servers.spawn(udp::serve(listen::udp(port)?, lab.witness.clone()));
    }
    let mut sctp = Sctp::NotInKernel;
    for port in ports::SCTP {
        if let Some(listener) = listen::sctp(port)? {
            servers.spawn(tcp::serve(listener, lab.clone(), Kind::Sctp, First::Client));
            sctp = Sctp::Served;
        }
    }
    let all = end.clone();
    servers.spawn(async move {
        stop.await;
        // With nobody listening any more there is nothing to end.
        let _ = all.send(true);
    });
    Ok(Running { lab, authority, _servers: servers, end, sctp })
}

impl Running {
    /// The names of this lab.
    pub fn world(&self) -> &World {
        &self.lab.world
    }

    /// What has arrived.
    pub fn witness(&self) -> &Witness {
        &self.lab.witness
    }

    /// What models were asked.
    pub fn recording(&self) -> Recording {
        self.lab.tape.recording()
    }

    /// Who signs its certificates.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The certificate to trust, PEM.
    pub fn ca_pem(&self) -> &str {
        self.authority.ca_pem()
    }

    /// What goes wrong, for which host.
    pub fn faults(&self) -> &Faults {
        &self.lab.faults
    }

    /// Whether SCTP is answered.
    pub fn sctp(&self) -> Sctp {
        self.sctp
    }

    /// Waits until every packet and every DNS datagram that came before this call is in the witness's record. False if
    /// it can't be told, for want of an answer.
    ///
    /// A TCP connection is among them by its first segment. What it brought is written down when a server has read it,
    /// and before anything is answered to it.
    pub async fn settle(&self) -> bool {
        settle::settle(&self.lab.witness).await
    }

    /// Waits until the lab has been told to stop. Its conversations end at the same moment, its listeners when this
    /// value is dropped.
    pub async fn stopped(&self) {
        // The sender is ours, so this can't fail before `stop` has come.
        let _ = self.end.subscribe().wait_for(|ended| *ended).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.end.send(true);
    }
}
