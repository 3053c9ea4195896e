//! Faults that can be switched on for one host, whatever path is asked for.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use closedbook_policy::Name;
use thiserror::Error;

/// What goes wrong with a host.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The connection is reset when a request has been read.
    Reset,
    /// A request is read and never answered.
    Silent,
    /// The answer's head comes late.
    Slow(Duration),
    /// Every request is answered with this status.
    Status(u16),
    /// The server shuts down its sending side after the answer, and goes on reading.
    HalfClose,
    /// Every answer is a gibibyte.
    Huge,
    /// The certificate is good, and for another name.
    WrongName,
    /// The certificate was good a year ago: what a client whose clock is a year ahead sees of every certificate.
    Expired,
    /// The certificate will be good in a year: what a client whose clock is a year behind sees.
    NotYet,
    /// NXDOMAIN.
    DnsMissing,
    /// SERVFAIL.
    DnsFailure,
    /// The resolver says nothing.
    DnsSilence,
}

/// Why a text is not a fault.
#[derive(Debug, Error)]
#[error(
    "{0:?} is not a fault; one of reset, silent, slow=SECONDS, status=CODE, half-close, huge, wrong-name, \
     expired, not-yet, dns-missing, dns-failure, dns-silence"
)]
pub struct UnknownFault(String);

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownFault(text.to_owned());
        Ok(match text.split_once('=') {
            None => match text {
                "reset" => Self::Reset,
                "silent" => Self::Silent,
                "half-close" => Self::HalfClose,
                "huge" => Self::Huge,
                "wrong-name" => Self::WrongName,
                "expired" => Self::Expired,
                "not-yet" => Self::NotYet,
                "dns-missing" => Self::DnsMissing,
                "dns-failure" => Self::DnsFailure,
                "dns-silence" => Self::DnsSilence,
                _ => return Err(unknown()),
            },
            Some(("slow", seconds)) => Self::Slow(crate::site::seconds(seconds).ok_or_else(unknown)?),
            Some(("status", code)) => {
                Self::Status(code.parse().ok().filter(|code| (200..=599).contains(code)).ok_or_else(unknown)?)
            }
            Some(_) => return Err(unknown()),
        })
    }
}

/// The faults that are on.
#[derive(Debug, Default)]
pub struct Faults(RwLock<HashMap<String, Fault>>);

impl Faults {
    /// Switches a fault on for a host, in place of another; `None` switches it off.
    pub fn set(&self, host: &Name, fault: Option<Fault>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match fault {
            Some(fault) => all.insert(host.as_str().to_owned(), fault),
            None => all.remove(host.as_str()),
        };
    }

    /// The fault of a host. The name is taken as it stands on the wire.
    pub(crate) fn of(&self, host: &str) -> Option<Fault> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if all.is_empty() {
            return None;
        }
        all.get(&host.trim_end_matches('.').to_ascii_lowercase()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_written() {
        assert_eq!("slow=0.25".parse::<Fault>().unwrap(), Fault::Slow(Duration::from_millis(250)));
        assert_eq!("status=503".parse::<Fault>().unwrap(), Fault::Status(503));
        for wrong in
            ["", "slow", "slow=", "slow=-1", "slow=x", "status=99", "status=1000", "reset=1", "Reset"]
        {
            assert!(wrong.parse::<Fault>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_fault_belongs_to_one_host_and_can_be_taken_back() {
        let faults = Faults::default();
        let host = Name::parse("a.test").unwrap();
        faults.set(&host, Some(Fault::Reset));
        assert_eq!(faults.of("A.test."), Some(Fault::Reset));
        assert_eq!(faults.of("b.a.test"), None);
        faults.set(&host, None);
        assert_eq!(faults.of("a.test"), None);
    }
}
