//! Test namespaces: a test begun outside runs itself again inside a fresh network namespace.
//!
//! As root each test runs twice, as root of the machine and as root of a user namespace of its own; otherwise
//! only the second way. A test whose namespace can't be made fails.

use std::{
    env,
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr},
    process::{Child, Command, Stdio},
};

const INSIDE: &str = "CLOSEDBOOK_TEST_NAMESPACE";

/// Declares tests that run in network namespaces of their own.
macro_rules! namespaced {
    ($($(#[$meta:meta])* fn $name:ident() $body:block)+) => {
        $($(#[$meta])* #[test] fn $name() {
            if $crate::world::enter(concat!(module_path!(), "::", stringify!($name))) { $body }
        })+
    };
}
pub(crate) use namespaced;

/// Whether the caller is inside; if it isn't, the test named has been run inside when this returns.
pub(crate) fn enter(path: &str) -> bool {
    // The harness leaves out the name of the crate.
    let (_, test) = path.split_once("::").unwrap();
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    if nix::unistd::geteuid().is_root() {
        run_inside(test, &["-n"], "root in a network namespace");
    }
    run_inside(test, &["-Urn"], "root of a user namespace in a network namespace");
    false
}

fn run_inside(test: &str, namespaces: &[&str], what: &str) {
    let program = env::current_exe().unwrap();
    // A test that waits in vain must not wait for ever.
    let output = Command::new("timeout")
        .args(["--kill-after=1", "60", "unshare"])
        .args(namespaces)
        .arg("--")
        .arg(program)
        .args(["--exact", test, "--test-threads=1", "--nocapture"])
        .env(INSIDE, what)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{test} as {what}:\n{text}");
    // Past the harness, which swallows what a passing test prints.
    io::stderr().write_all(format!("{test}: ran as {what}\n").as_bytes()).unwrap();
}

/// Runs a program that has to succeed, with `input` on its standard input; gives its standard output.
pub(crate) fn succeeds(program: &str, arguments: &[&str], input: &str) -> String {
    let (success, output) = run(program, arguments, input);
    assert!(success, "{program} {arguments:?}: {output}");
    output
}

/// Runs a program; gives whether it succeeded and what it wrote.
pub(crate) fn run(program: &str, arguments: &[&str], input: &str) -> (bool, String) {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text)
}

/// A device beside `lo`, and another namespace at its other end. IPv4 only, neighbours known on both sides: what
/// crosses it is what a test sends.
pub(crate) struct Neighbour(Child);

impl Neighbour {
    pub(crate) fn new() -> Self {
        let mut holder = Command::new("unshare")
            .args(["-n", "sh", "-c", "echo ready; exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 6];
        holder.stdout.take().unwrap().read_exact(&mut ready).unwrap();
        let neighbour = Self(holder);
        for path in ["all", "default"] {
            std::fs::write(format!("/proc/sys/net/ipv6/conf/{path}/disable_ipv6"), "1").unwrap();
        }
        let id = neighbour.0.id().to_string();
        ip(&format!("link add uplink address 02:00:00:00:00:01 type veth peer name far netns {id}"));
        ip("addr add 10.77.0.2/24 dev uplink");
        ip("link set uplink up");
        ip("neigh replace 10.77.0.1 lladdr 02:00:00:00:00:02 dev uplink");
        // Second to the default route on lo: it is the way for sockets bound to the device.
        ip("route add default via 10.77.0.1 dev uplink metric 500");
        for command in [
            "link set far address 02:00:00:00:00:02",
            "addr add 10.77.0.1/24 dev far",
            "link set far up",
            "neigh replace 10.77.0.2 lladdr 02:00:00:00:00:01 dev far",
        ] {
            neighbour.inside(&[&["ip", "-4"], command.split(' ').collect::<Vec<_>>().as_slice()].concat());
        }
        neighbour
    }

    /// The neighbour's address.
    pub(crate) fn address(&self) -> IpAddr {
        Ipv4Addr::new(10, 77, 0, 1).into()
    }

    /// The address of our end.
    pub(crate) fn uplink(&self) -> IpAddr {
        Ipv4Addr::new(10, 77, 0, 2).into()
    }

    /// How many TCP and UDP packets ever reached the neighbour.
    pub(crate) fn packets_received(&self) -> u64 {
        let statistics = self.inside(&["cat", "/proc/net/snmp"]);
        let rows: Vec<Vec<&str>> = statistics
            .lines()
            .filter(|line| line.starts_with("Ip:"))
            .map(|line| line.split(' ').collect())
            .collect();
        let column = rows[0].iter().position(|name| *name == "InReceives").unwrap();
        rows[1][column].parse().unwrap()
    }

    pub(crate) fn wait_for_packets(&self) {
        while self.packets_received() == 0 {
            std::thread::yield_now();
        }
    }

    /// Sends our end a datagram.
    pub(crate) fn send_datagram(&self, port: u16) {
        self.inside(&["bash", "-c", &format!("echo hello >/dev/udp/{}/{port}", self.uplink())]);
    }

    fn inside(&self, command: &[&str]) -> String {
        let target = format!("--target={}", self.0.id());
        succeeds("nsenter", &[&[target.as_str(), "--net", "--"], command].concat(), "")
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // The namespace goes when its holder's input ends.
        drop(self.0.stdin.take());
        let _status = self.0.wait();
    }
}

fn ip(command: &str) {
    succeeds("ip", &command.split(' ').collect::<Vec<_>>(), "");
}
