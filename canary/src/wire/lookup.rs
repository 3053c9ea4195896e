//! Names to addresses, as an ordinary client has it: by the name servers of /etc/resolv.conf. Not by the C library, which
//! a static program can't use, and which would hide what the answer was.

use std::net::{IpAddr, SocketAddr};

use crate::seen::Seen;
use crate::surroundings::Surroundings;

/// The addresses of a name, IPv4 first; or what was seen instead.
pub fn addresses(name: &str, around: &Surroundings) -> Result<Vec<IpAddr>, Seen> {
    let mut last = Seen::failed("/etc/resolv.conf names no name server");
    for server in &around.nameservers {
        match super::dns::addresses(SocketAddr::new(*server, 53), name) {
            Ok(found) if !found.is_empty() => return Ok(found),
            Ok(_) => last = Seen::Dns { code: "NOERROR".to_owned(), answers: Vec::new() },
            Err(seen) => last = seen,
        }
    }
    Err(last)
}

/// The first address of a permitted name, for whatever is to be tried there. Without one, nothing was tried: that is no
/// refusal of it.
pub fn aim(name: &str, around: &Surroundings) -> Result<IpAddr, Seen> {
    let found =
        addresses(name, around).map_err(|seen| Seen::failed(format!("{name} is permitted: {seen}")))?;
    found.into_iter().next().ok_or_else(|| Seen::failed(format!("{name} has no address")))
}
