//! Which ports the lab serves. Packets to all others are seen by the tap.

/// Where HTTP and TLS are at home. Every TCP port answers them; these are the ones clients try.
pub const WEB: [u16; 4] = [80, 443, 8080, 8443];

/// TCP ports where the server speaks first: FTP, SSH, SMTP, POP3, IMAP, submission, MySQL.
pub(crate) const SERVER_FIRST: [u16; 7] = [21, 22, 25, 110, 143, 587, 3306];

/// TCP ports where the client speaks first.
const CLIENT_FIRST: [u16; 41] = [
    1, 9, 13, 23, 70, 79, 88, 111, 119, 123, 389, 445, 465, 514, 636, 853, 873, 989, 990, 993, 995, 1080,
    1194, 1433, 2222, 2375, 2376, 3000, 3128, 3389, 5000, 5432, 5555, 6379, 6443, 8000, 8888, 9000, 9418,
    50051, 65535,
];

/// The DNS port, TCP and UDP.
pub(crate) const DNS: u16 = 53;

/// UDP ports that answer.
const UDP: [u16; 19] =
    [1, 69, 80, 123, 137, 161, 443, 500, 514, 784, 853, 1194, 1900, 3478, 4500, 5355, 8443, 33434, 51820];

/// SCTP ports that answer, where the kernel has SCTP.
pub(crate) const SCTP: [u16; 4] = [9, 80, 443, 5000];

/// All TCP ports but DNS.
pub(crate) fn tcp() -> impl Iterator<Item = u16> {
    WEB.into_iter().chain(SERVER_FIRST).chain(CLIENT_FIRST)
}

/// All UDP ports but DNS.
pub(crate) fn udp() -> impl Iterator<Item = u16> {
    UDP.into_iter()
}

/// Whether a listener of ours holds this UDP port.
pub(crate) fn is_udp(port: u16) -> bool {
    port == DNS || UDP.contains(&port)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_port_stands_twice() {
        let tcp: Vec<_> = tcp().chain([DNS]).collect();
        assert_eq!(tcp.iter().collect::<HashSet<_>>().len(), tcp.len());
        assert_eq!(UDP.iter().collect::<HashSet<_>>().len(), UDP.len());
        assert!(!UDP.contains(&DNS));
    }
}
