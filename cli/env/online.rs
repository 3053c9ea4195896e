//! The canary on the real network: the model's API must answer; where nobody lives, only a filter can.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use closedbook_canary::report::Evidence;

use super::job::Wanted;
use super::trial::Trial;
use crate::exit::Failure;
use crate::scratch::Scratch;

/// How long the first permitted host may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// Does it.
pub(super) fn run(wanted: &Wanted, scratch: &Scratch) -> Result<Evidence, Failure> {
    let job = wanted.job(None, None, false)?;
    let hosts = job.phases.iter().flat_map(|phase| &phase.targets.permitted);
    if let Some(host) = hosts.into_iter().find(|host| host.https) {
        reach(&host.name)?;
    }
    eprintln!(
        "canary: the trial, on this machine's own network; there is no witness, so less can be told than in the lab"
    );
    Trial { uplink: Vec::new(), policy: wanted.policy.to_json(), job: &job, scratch }.run()
}

/// Without a network nothing can be told, and everything would look closed.
fn reach(host: &str) -> Result<(), Failure> {
    let offline = |why: String| {
        Failure::inconclusive(format!("there is no network here: {host} can't be reached: {why}"))
            .remedy("add --lab to run the canary offline, against a fake internet on this machine")
    };
    let addresses: Vec<SocketAddr> =
        (host, 443).to_socket_addrs().map_err(|error| offline(error.to_string()))?.collect();
    let mut last = "it has no address".to_owned();
    for address in addresses.iter().take(3) {
        match TcpStream::connect_timeout(address, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) => last = error.to_string(),
        }
    }
    Err(offline(last))
}
