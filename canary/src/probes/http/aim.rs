//! Where requests are sent that must not get through: to the permitted host, for filters that look at addresses, and
//! elsewhere, for filters that look at what is asked and then dial the client's address.

use std::net::{IpAddr, SocketAddr};

use crate::nonce::Nonce;
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{lookup, tcp};

/// An aim.
#[derive(Debug, Clone)]
pub(super) struct Aim {
    /// In the words of a try.
    pub(super) place: &'static str,
    /// As the report has it. The permitted host goes by its name: to arrive at its own address is no fault.
    shown: String,
    ip: Result<IpAddr, Seen>,
    nowhere: bool,
}

/// The permitted host on port 80, if there is one.
pub(super) fn at_home(trial: &Trial<'_>) -> Option<Aim> {
    let host = trial.http()?;
    let ip = lookup::aim(&host.name, trial.around());
    Some(Aim { place: "to the permitted host", shown: host.name.clone(), ip, nowhere: false })
}

/// The witness, or where nobody lives.
pub(super) fn elsewhere(trial: &Trial<'_>) -> Aim {
    let foreign = trial.targets().foreign();
    let shown = foreign.port(80).to_string();
    Aim { place: "elsewhere", shown, ip: Ok(foreign.ip), nowhere: foreign.nowhere }
}

/// Both. At the permitted host, only a witness can say whether what was refused arrived.
pub(super) fn everywhere(trial: &Trial<'_>) -> Vec<Aim> {
    let home = trial.targets().own_hosts.then(|| at_home(trial)).flatten();
    home.into_iter().chain([elsewhere(trial)]).collect()
}

impl Aim {
    /// Port 80 there; or why there is nothing to aim at.
    pub(super) fn address(&self) -> Result<SocketAddr, Seen> {
        self.ip.clone().map(|ip| SocketAddr::new(ip, 80))
    }

    /// A try there, made by `how` with the address.
    pub(super) fn attempt<'s>(
        &self,
        what: &str,
        want: Want,
        how: impl FnOnce(SocketAddr, &Nonce) -> Seen + Send + 's,
    ) -> Attempt<'s> {
        let address = self.address();
        let make = move |nonce: &Nonce| match address {
            Ok(to) => how(to, nonce),
            Err(seen) => seen,
        };
        Attempt::new(format!("{what}, {}", self.place), &self.shown, want, make).nowhere(self.nowhere)
    }

    /// A try with these octets.
    pub(super) fn send<'s>(
        &self,
        what: &str,
        want: Want,
        octets: impl FnOnce(&Nonce) -> Vec<u8> + Send + 's,
    ) -> Attempt<'s> {
        self.attempt(what, want, move |to, nonce| tcp::exchange(to, &octets(nonce), nonce))
    }
}

/// Requests as text, each in its variant; `{nonce}` stands for the nonce.
pub(super) fn send_all(trial: &mut Trial<'_>, aims: &[Aim], requests: &[(&str, String, Want)]) {
    let attempts = aims.iter().flat_map(|aim| {
        requests.iter().map(|(what, text, want)| {
            let octets = move |nonce: &Nonce| text.replace("{nonce}", nonce.as_str()).into_bytes();
            aim.send(what, want.clone(), octets)
        })
    });
    trial.attempt_all(attempts.collect());
}

/// A request with these field lines, as text.
pub(super) fn get(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\n{fields}X-Nonce: {{nonce}}\r\nConnection: close\r\n\r\n")
}
