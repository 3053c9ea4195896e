//! The one decision.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::cidr::canonical;
use crate::ranges::{self, Standing};
use crate::{
    Attempt, Carries, Entry, Evidence, Hello, Host, Name, Permit, Phase, Ports, Reason, Refusal, Request,
    Upgrade,
};

impl Phase {
    /// Whether this attempt may go on, and where to.
    ///
    /// Decided in this order, the first that applies:
    ///
    /// 1. `Tcp(name)`: a `tcp://` entry must name the name and the port. Nothing else counts.
    /// 2. A ClientHello with ECH, where the policy refuses it: `ech-refused`.
    /// 3. A ClientHello without server name: an entry must name the original *address* and port, and that address
    ///    is dialled. No entry names the address: `no-server-name`.
    /// 4. A ClientHello with a server name: an entry must name the name and the port. The original address counts
    ///    for nothing, so a name that is not allowed stays so inside an allowed block of addresses.
    /// 5. A request whose Host port (80 where it has none, RFC 9110 section 4.2.1) is not the original port:
    ///    `host-mismatch`.
    /// 6. A request whose Host is an address: it must be the original address (`host-mismatch`), and an entry must
    ///    name it with the port.
    /// 7. A request whose Host is a name: an entry must name the name and the port.
    /// 8. A request to upgrade to WebSocket: that entry must be a `ws://` entry, else `http-upgrade`.
    /// 9. An address that is never dialled: `private-address`, whatever the entries say.
    ///
    /// "An entry" is one without `tcp://` from 3 on. The most specific entry becomes the rule. IPv4-mapped IPv6
    /// addresses count as IPv4. After the decision, the route of a permitted name sets the destination.
    pub fn decide(self: &Arc<Self>, attempt: Attempt) -> Result<Permit, Refusal> {
        let original = SocketAddr::new(canonical(attempt.original.ip()), attempt.original.port());
        let (entry, host) = match &attempt.evidence {
            Evidence::Tcp(name) => (self.tcp(name, original.port())?, Host::Name(name.clone())),
            Evidence::Tls(hello) => self.tls(hello, original)?,
            Evidence::Http(request) => self.http(request, original)?,
        };
        let rule = entry.shared_text();
        Ok(Permit::new(self, attempt, rule, host))
    }

    fn tcp(&self, name: &Name, port: u16) -> Result<&Entry, Refusal> {
        let tcp = |entry: &&Entry| entry.carries() == Carries::Tcp && entry.names(name);
        self.on_port(tcp, port, name).unwrap_or_else(|| {
            let detail = format!("no tcp:// entry of phase {} names {name}", self.name());
            Err(Refusal::new(Reason::NameNotAllowed, detail))
        })
    }

    fn tls(&self, hello: &Hello, original: SocketAddr) -> Result<(&Entry, Host), Refusal> {
        if hello.ech && self.refuses_ech() {
            return Err(Refusal::new(
                Reason::EchRefused,
                "the ClientHello carries Encrypted Client Hello, which the policy refuses",
            ));
        }
        match &hello.server_name {
            Some(name) => Ok((self.name_entry(name, original.port())?, Host::Name(name.clone()))),
            None => self.address_entry(original, Reason::NoServerName),
        }
    }

    fn http(&self, request: &Request, original: SocketAddr) -> Result<(&Entry, Host), Refusal> {
        let port = request.port.unwrap_or(80);
        if port != original.port() {
            let detail = match request.port {
                Some(port) => format!("Host names port {port} on a connection to port {}", original.port()),
                None => format!("Host names no port, so 80, on a connection to port {}", original.port()),
            };
            return Err(Refusal::new(Reason::HostMismatch, detail));
        }
        let (entry, host) = match &request.host {
            Host::Name(name) => (self.name_entry(name, port)?, Host::Name(name.clone())),
            Host::Address(address) if canonical(*address) != original.ip() => {
                return Err(Refusal::new(
                    Reason::HostMismatch,
                    format!("Host names {address} on a connection to {}", original.ip()),
                ));
            }
            Host::Address(_) => self.address_entry(original, Reason::AddressNotAllowed)?,
        };
        match request.upgrade {
            Upgrade::None => Ok((entry, host)),
            Upgrade::WebSocket => Ok((self.websocket_entry(&host, port)?, host)),
        }
    }

    fn name_entry(&self, name: &Name, port: u16) -> Result<&Entry, Refusal> {
        let web = |entry: &&Entry| entry.carries() != Carries::Tcp && entry.names(name);
        self.on_port(web, port, name).unwrap_or_else(|| {
            let detail = match self.resolves(name) {
                Some(entry) => {
                    format!("only {entry} names {name} in phase {}, and not for TLS or HTTP", self.name())
                }
                None => format!("no entry of phase {} names {name}", self.name()),
            };
            Err(Refusal::new(Reason::NameNotAllowed, detail))
        })
    }

    fn address_entry(&self, original: SocketAddr, unnamed: Reason) -> Result<(&Entry, Host), Refusal> {
        let (address, port) = (original.ip(), original.port());
        let entry =
            self.on_port(|entry| entry.names_address(address), port, &address).unwrap_or_else(|| {
                let detail = match unnamed {
                    Reason::NoServerName => format!(
                        "the ClientHello names no server, and no entry of phase {} names {address}",
                        self.name()
                    ),
                    _ => format!("no entry of phase {} names {address}", self.name()),
                };
                Err(Refusal::new(unnamed, detail))
            })?;
        match ranges::standing(address) {
            Standing::Never(what) => {
                Err(Refusal::new(Reason::PrivateAddress, format!("{address} is never dialled: {what}")))
            }
            _ => Ok((entry, Host::Address(address))),
        }
    }

    /// Called when an ordinary request would pass, so only the permission to upgrade can be missing.
    fn websocket_entry(&self, host: &Host, port: u16) -> Result<&Entry, Refusal> {
        let permits = |entry: &&Entry| {
            entry.carries() == Carries::WebSocket
                && entry.opens(port)
                && match host {
                    Host::Name(name) => entry.names(name),
                    Host::Address(address) => entry.names_address(*address),
                }
        };
        self.entries().iter().find(permits).ok_or_else(|| {
            let detail = format!("no ws:// entry of phase {} names {host} on port {port}", self.name());
            Refusal::new(Reason::HttpUpgrade, detail)
        })
    }

    /// The first of the entries that is open on the port; `None` if there are no such entries at all.
    fn on_port(
        &self,
        names: impl Fn(&&Entry) -> bool,
        port: u16,
        host: &dyn std::fmt::Display,
    ) -> Option<Result<&Entry, Refusal>> {
        let mut known: Option<Ports> = None;
        for entry in self.entries().iter().filter(names) {
            if entry.opens(port) {
                return Some(Ok(entry));
            }
            known = Some(known.map_or_else(|| entry.ports().clone(), |ports| ports.union(entry.ports())));
        }
        let detail = format!("phase {} permits {host} on {}, not on {port}", self.name(), known?);
        Some(Err(Refusal::new(Reason::PortNotAllowed, detail)))
    }
}

#[cfg(test)]
mod tests;
