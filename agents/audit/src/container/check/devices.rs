//! Devices of the machine.

use super::{Case, say};
use crate::container::facts::Flag;
use crate::container::finding::{Level, Remark};
use crate::container::path::{clean, is_in};

/// By path, the first that fits. A trailing `*` stands for any rest.
pub(super) const DEVICES: &[(&str, Level, &str)] = &[
    ("/dev", Level::Breaks, "It has every device of the machine: memory, disks, network."),
    ("/dev/mem", Level::Breaks, "It reads and writes the machine's memory."),
    ("/dev/kmem", Level::Breaks, "It reads and writes the machine's memory."),
    ("/dev/port", Level::Breaks, "It speaks to the machine's hardware."),
    ("/dev/sg*", Level::Breaks, "It speaks to the disks of the machine."),
    ("/dev/sd*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/nvme*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/vd*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/xvd*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/hd*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/mmcblk*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/dm-*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/md*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/mapper*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/disk*", Level::Breaks, "It reads and writes a disk of the machine, under the file system."),
    ("/dev/loop*", Level::Breaks, "It attaches files as disks, and reads disks that others have attached."),
    (
        "/dev/nbd*",
        Level::Breaks,
        "It speaks to disks over the network, which the kernel does for it past the rules.",
    ),
    ("/dev/infiniband*", Level::Breaks, "It sends without the kernel, so that no rule sees it."),
    ("/dev/vfio*", Level::Breaks, "It drives a device of the machine by itself, a network card too."),
    ("/dev/uio*", Level::Breaks, "It drives a device of the machine by itself, a network card too."),
    ("/dev/vhost-vsock", Level::Weakens, "It speaks to virtual machines and the host beside the network."),
    ("/dev/vsock", Level::Weakens, "It speaks to the host beside the network."),
    ("/dev/vhost-net", Level::Weakens, "It hands packets to the kernel for a virtual machine."),
    (
        "/dev/net/tun",
        Level::Weakens,
        "With NET_ADMIN, or in a user namespace, it makes network devices and tunnels.",
    ),
    (
        "/dev/net*",
        Level::Weakens,
        "With NET_ADMIN, or in a user namespace, it makes network devices and tunnels.",
    ),
    ("/dev/ppp", Level::Weakens, "With NET_ADMIN it makes a network device."),
    ("/dev/bus/usb*", Level::Weakens, "It drives what is plugged in, modems and network adapters too."),
    ("/dev/ttyUSB*", Level::Weakens, "It speaks to what is plugged in, modems too."),
    ("/dev/ttyACM*", Level::Weakens, "It speaks to what is plugged in, modems too."),
    ("/dev/ttyS*", Level::Weakens, "It speaks over the machine's serial line."),
    ("/dev/kmsg", Level::Weakens, "It reads and writes the kernel's messages."),
    (
        "/dev/shm*",
        Level::Weakens,
        "It shares memory with the machine's processes, which may carry its data out.",
    ),
    ("/dev/log", Level::Weakens, "It writes to the machine's log, which may be sent elsewhere."),
    ("/dev/kvm", Level::Note, "It runs virtual machines; their network is its own."),
    ("/dev/fuse", Level::Note, "It offers file systems to itself."),
    ("/dev/*", Level::Note, "It has a device of the machine."),
];

/// What a device would allow.
pub(super) fn judged(path: &str) -> Option<(Level, &'static str)> {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => path == pattern,
    };
    // What every container has.
    if ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"].contains(&path) {
        return None;
    }
    DEVICES.iter().find(|(pattern, ..)| fits(pattern)).map(|(_, level, allows)| (*level, *allows))
}

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    for device in &case.container.devices {
        let path = clean(&device.value);
        let (level, allows) = match judged(&path) {
            Some(judged) => judged,
            None if is_in(&path, "/dev") => continue,
            None => (Level::Unknown, "What the device is can't be told by its path."),
        };
        found.push(
            say(level, "device", &device.spot, format!("it has {}", device.value))
                .allows(allows)
                .remedy("leave the device out"),
        );
    }
    if case.container.privileged.value != Flag::On {
        for rule in &case.container.device_rules {
            if let Some((level, allows)) = of_rule(&rule.value) {
                found.push(
                    say(level, "device-rule", &rule.spot, format!("devices are permitted: {}", rule.value))
                        .allows(allows)
                        .remedy("leave the rule out"),
                );
            }
        }
    }
    if let Some(spot) = case.container.gpus.first() {
        found.push(
            say(Level::Note, "gpu", spot, "it has a GPU or another device of a plugin")
                .allows("The driver is one more part of the machine's kernel that it speaks to.")
                .remedy("nothing to do where the task needs it"),
        );
    }
}

/// `TYPE MAJOR:MINOR ACCESS`
fn of_rule(rule: &str) -> Option<(Level, &'static str)> {
    let parts: Vec<&str> = rule.split_whitespace().collect();
    let [kind, number, access] = parts.as_slice() else {
        return Some((Level::Unknown, "What it permits can't be told."));
    };
    let (major, minor) = number.split_once(':').unwrap_or((number, "*"));
    let only_makes = !access.contains(['r', 'w']);
    match (*kind, major, minor) {
        // A node that can't be opened is nothing.
        _ if only_makes => None,
        ("a" | "b", ..) => {
            Some((Level::Breaks, "It makes the nodes of the machine's disks, and reads and writes them."))
        }
        ("c", "*", _) => Some((
            Level::Breaks,
            "It makes the nodes of every character device, the machine's memory among them.",
        )),
        // Memory and ports are numbers of the same kind as null and zero.
        ("c", "1", "*" | "1" | "2" | "4") => {
            Some((Level::Breaks, "It reads and writes the machine's memory."))
        }
        ("c", "1" | "5" | "136", _) => None,
        ("c", "10", "200") => {
            Some((Level::Note, "With NET_ADMIN, or in a user namespace, it makes network devices."))
        }
        ("c", ..) => {
            Some((Level::Weakens, "It makes the nodes of these devices, whatever they are on this machine."))
        }
        _ => Some((Level::Unknown, "What it permits can't be told.")),
    }
}
