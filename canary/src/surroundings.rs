//! What the container offers: read from the kernel's own files, without a packet.

pub(crate) mod listeners;
pub(crate) mod mounts;
pub(crate) mod processes;
pub(crate) mod routes;
pub(crate) mod unix;

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What was found where the canary runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surroundings {
    /// The kernel's release.
    pub kernel: String,
    /// Effective user id.
    pub uid: u32,
    /// Effective capabilities, by name.
    pub capabilities: Vec<String>,
    /// Capabilities that uid 0 could have: the bounding set.
    pub bounding: Vec<String>,
    /// Whether there is no uid 0: a user namespace may lack it (user_namespaces(7)), and then nobody can become it.
    #[serde(default)]
    pub no_root: bool,
    /// Whether no_new_privs is set.
    pub no_new_privs: bool,
    /// seccomp: 0 none, 2 filter.
    pub seccomp: u8,
    /// Network devices.
    pub devices: Vec<String>,
    /// Whether the kernel has IPv6.
    pub ipv6_kernel: bool,
    /// Whether there is an IPv6 address beside loopback's, or a route.
    pub ipv6: bool,
    /// Name servers of /etc/resolv.conf.
    pub nameservers: Vec<IpAddr>,
    /// Its search list.
    pub search: Vec<String>,
    /// Kernel settings that matter, by name.
    pub sysctls: Vec<(String, String)>,
    /// curl, if the image has it.
    pub curl: Option<PathBuf>,
    /// Python 3, if the image has it.
    pub python: Option<PathBuf>,
}

/// Settings of the kernel that open or close something.
const SYSCTLS: [&str; 10] = [
    "net/ipv4/ping_group_range",
    "net/ipv4/ip_unprivileged_port_start",
    "net/ipv4/tcp_fastopen",
    "net/ipv6/conf/all/disable_ipv6",
    "net/ipv6/conf/all/accept_ra",
    "net/ipv4/conf/all/accept_source_route",
    "net/mptcp/enabled",
    "kernel/unprivileged_userns_clone",
    "kernel/unprivileged_bpf_disabled",
    "user/max_user_namespaces",
];

impl Surroundings {
    /// Looks around. What can't be read is left empty, and a probe that needs it says so.
    pub fn look() -> Self {
        let status = text("/proc/self/status");
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let number = |name: &str| field(name).and_then(|value| value.parse::<u8>().ok()).unwrap_or(0);
        let resolv = text("/etc/resolv.conf");
        Self {
            kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
            uid: nix::unistd::geteuid().as_raw(),
            capabilities: capabilities(field("CapEff:")),
            bounding: capabilities(field("CapBnd:")),
            no_root: lacks_root(&text("/proc/self/uid_map")),
            no_new_privs: number("NoNewPrivs:") == 1,
            seccomp: number("Seccomp:"),
            devices: devices(),
            ipv6_kernel: Path::new("/proc/net/if_inet6").exists(),
            ipv6: has_ipv6(),
            nameservers: words(&resolv, "nameserver").filter_map(address).collect(),
            search: words(&resolv, "search").map(str::to_owned).collect(),
            sysctls: SYSCTLS
                .iter()
                .filter_map(|name| {
                    let value = fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?;
                    Some(((*name).to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
                })
                .collect(),
            curl: program("curl"),
            python: program("python3"),
        }
    }

    /// Whether a capability is effective.
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|held| held == capability)
    }
}

/// Whether no line of the map begins with id 0: no other range can hold it. A map that can't be read says nothing.
fn lacks_root(map: &str) -> bool {
    let mut firsts = map.lines().filter_map(|line| line.split_whitespace().next()).peekable();
    firsts.peek().is_some() && firsts.all(|first| first != "0")
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn words<'a>(text: &'a str, keyword: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .filter_map(move |line| {
            line.trim().strip_prefix(keyword).filter(|rest| rest.starts_with([' ', '\t']))
        })
        .flat_map(str::split_whitespace)
}

/// Without its zone: `fe80::1%eth0`.
fn address(text: &str) -> Option<IpAddr> {
    text.split('%').next().and_then(|ip| ip.parse().ok())
}

fn devices() -> Vec<String> {
    let listed = text("/proc/net/dev");
    listed.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim().to_owned()).collect()
}

fn has_ipv6() -> bool {
    // The last column is the device; loopback's own ::1 is no way out.
    let address = text("/proc/net/if_inet6")
        .lines()
        .any(|line| !line.starts_with("00000000000000000000000000000001") && !line.trim().is_empty());
    // A default route has prefix length 00 and is not the kernel's own "unreachable" entry, which has flag 0x200.
    let route = text("/proc/net/ipv6_route").lines().any(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let flags = columns.get(8).and_then(|text| u32::from_str_radix(text, 16).ok()).unwrap_or(0x200);
        columns.get(1) == Some(&"00") && flags & 0x200 == 0
    });
    address || route
}

fn capabilities(mask: Option<&str>) -> Vec<String> {
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let mut held: Vec<String> =
        caps::all().into_iter().filter(|cap| mask & cap.bitmask() != 0).map(|cap| cap.to_string()).collect();
    held.sort();
    held
}

/// In PATH, or where programs usually are: a harness may give no PATH.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
