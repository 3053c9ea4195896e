//! The task's own privilege: other namespaces, its init, the kernel's files, devices.
//!
//! Steps: as whoever the command is (root too), enter or make namespaces, change the network, trace or read the first
//! process, write where the kernel takes orders, make a device.
//!
//! Guarantees: G2, G6, G9, G10 (control is out of reach), G17. The command's user namespace lies below the one that owns
//! the network, so no capability it can get counts there.

use crate::battery::{Attack, attack, attempt};

const fn kept(name: &'static str, code: &'static str, refused: &'static [&'static str]) -> Attack {
    attack(name, code, refused).without_control("nothing is sent").sealed_only()
}

const DENIED: &[&str] = &["EPERM", "EACCES"];
/// Read-only, or another's.
const NOT_WRITTEN: &[&str] = &["EROFS", "EACCES", "EPERM", "ENOENT"];

const NAMESPACES: &[Attack] = &[
    kept(
        "entering the owner of the network",
        "in_child(lambda: joined('/proc/1/ns/user', CLONE_NEWUSER))",
        DENIED,
    ),
    kept(
        "entering the first process's network",
        "in_child(lambda: joined('/proc/1/ns/net', CLONE_NEWNET))",
        DENIED,
    ),
    kept(
        "entering its own network again",
        "in_child(lambda: joined('/proc/self/ns/net', CLONE_NEWNET))",
        DENIED,
    ),
    kept("entering the owner by its network", "in_child(lambda: owner_of_network())", DENIED),
    kept(
        "a packet socket as root of a new user namespace",
        "in_child(lambda: as_new_root(lambda: frame(0x0800, N)))",
        DENIED,
    ),
    kept(
        "a raw socket as root of a new user namespace",
        "in_child(lambda: as_new_root(lambda: raw(253, N)))",
        DENIED,
    ),
    kept(
        "rules as root of a new user namespace",
        "in_child(lambda: as_new_root(lambda: ran('nft', 'flush', 'ruleset')))",
        &["failed"],
    ),
    attack(
        "TCP from a new network",
        "in_child(lambda: in_new_network(lambda: tcp(v4, 443, hello(sni(host)))))",
        &["ENETUNREACH"],
    )
    .control("tcp(v4, 443, hello(sni(host)))"),
    attack(
        "UDP from a new network",
        "in_child(lambda: in_new_network(lambda: udp(v4, 4444, N)))",
        &["ENETUNREACH"],
    )
    .control("udp(v4, 4444, N)"),
    kept(
        "a pair of devices between a new network and the old",
        "in_child(lambda: in_new_network(lambda: \
        ran('ip', 'link', 'add', 'x0', 'type', 'veth', 'peer', 'name', 'x1', 'netns', '1')))",
        &["failed"],
    ),
];

const NETWORK: &[Attack] = &[
    kept("flushing the rules", "ran('nft', 'flush', 'ruleset')", &["failed"]),
    kept("reading the rules", "ran('nft', 'list', 'table', 'inet', 'closedbook')", &["failed"]),
    kept("a device", "ran('ip', 'link', 'add', 'x0', 'type', 'veth')", &["failed"]),
    kept("an address", "ran('ip', 'address', 'add', '203.0.113.9/32', 'dev', 'lo')", &["failed"]),
    kept("a route", "ran('ip', 'route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo')", &["failed"]),
    kept("taking the device down", "ran('ip', 'link', 'set', 'lo', 'down')", &["failed"]),
    kept("a tunnel's device", "tunnel()", &["EPERM", "EACCES", "ENOENT", "ENODEV", "ENXIO"]),
    kept("a setting of the network", "writable('/proc/sys/net/ipv4/ip_forward')", NOT_WRITTEN),
    kept("a setting of IPv6", "writable('/proc/sys/net/ipv6/conf/all/accept_ra')", NOT_WRITTEN),
    kept("a mount of sysfs", "in_child(lambda: as_new_root(lambda: mounted('sysfs', '/sys')))", DENIED),
];

const KERNEL: &[Attack] = &[
    kept("a program for core dumps", "writable('/proc/sys/kernel/core_pattern')", NOT_WRITTEN),
    kept("a program for modules", "writable('/proc/sys/kernel/modprobe')", NOT_WRITTEN),
    kept("a program for devices", "writable('/sys/kernel/uevent_helper')", NOT_WRITTEN),
    kept("a program for old formats", "writable('/proc/sys/fs/binfmt_misc/register')", NOT_WRITTEN),
    kept("a magic key", "writable('/proc/sysrq-trigger')", NOT_WRITTEN),
    kept("another control group", "writable('/sys/fs/cgroup/*/cgroup.procs')", NOT_WRITTEN),
    kept("an agent for control groups", "writable('/sys/fs/cgroup/*/release_agent')", NOT_WRITTEN),
    kept(
        "uncovering /proc",
        "in_child(lambda: as_new_root(lambda: unmounted('/proc')))",
        &["EINVAL", "EPERM"],
    ),
    kept(
        "uncovering /proc/sys",
        "in_child(lambda: as_new_root(lambda: unmounted('/proc/sys')))",
        &["EINVAL", "EPERM"],
    ),
    kept(
        "making /proc/sys writable",
        "in_child(lambda: as_new_root(lambda: remounted('/proc/sys')))",
        &["EINVAL", "EPERM"],
    ),
];

const INIT: &[Attack] = &[
    kept("tracing", "traced(1)", DENIED),
    kept("its memory", "opened('/proc/1/mem')", DENIED),
    kept("its environment", "opened('/proc/1/environ')", DENIED),
    kept("its descriptors", "read_link('/proc/1/fd/0')", DENIED),
    kept("its descriptors, opened", "opened('/proc/1/fd/0')", DENIED),
    kept("its root", "listed('/proc/1/root')", DENIED),
    kept("one of its descriptors", "descriptor_of(1)", DENIED),
    kept("its end", "killed(1)", &["alive"]),
    kept("processes outside", "others()", &["none"]),
    kept("a handle of a file", "by_handle('/etc/hostname')", DENIED),
];

#[test]
fn other_namespaces() {
    attempt("other namespaces", NAMESPACES);
}

#[test]
fn the_network_itself() {
    attempt("the network itself", NETWORK);
}

#[test]
fn orders_to_the_kernel() {
    attempt("orders to the kernel", KERNEL);
}

#[test]
fn the_first_process() {
    attempt("the first process", INIT);
}
