//! Sockets of families that know no network namespace, and ways to make sockets that a filter does not see.
//!
//! Steps: open a socket of each family; make one through io_uring, through the i386 and x32 instruction sets, as a pair.
//! AF_VSOCK reaches the hypervisor's host from any namespace, AF_BLUETOOTH a radio.
//!
//! Guarantees: G2, G9. These are held by the filter on system calls alone, so they are not tried without it.

use crate::battery::{Attack, attack, attempt};

const fn absent(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["EAFNOSUPPORT"]).without_control("it may leave the machine").sealed_only()
}

const fn unseen(name: &'static str, code: &'static str, refused: &'static [&'static str]) -> Attack {
    attack(name, code, refused).without_control("it may leave the machine").sealed_only()
}

const FAMILIES: &[Attack] = &[
    absent("VSOCK", "any_family(40, socket.SOCK_STREAM)"),
    absent("VSOCK, datagrams", "any_family(40)"),
    absent("Bluetooth", "any_family(31, socket.SOCK_SEQPACKET, 0)"),
    absent("the kernel's ciphers", "any_family(38, socket.SOCK_SEQPACKET)"),
    absent("TIPC", "any_family(30, socket.SOCK_SEQPACKET)"),
    absent("RDS", "any_family(21, socket.SOCK_SEQPACKET)"),
    absent("CAN", "any_family(29, socket.SOCK_RAW, 1)"),
    absent("XDP", "any_family(44, socket.SOCK_RAW)"),
    absent("PPP over X", "any_family(24)"),
    absent("X.25", "any_family(9, socket.SOCK_SEQPACKET)"),
    absent("AX.25", "any_family(3)"),
    absent("IPX", "any_family(4)"),
    absent("AppleTalk", "any_family(5)"),
    absent("keys of IPsec", "any_family(15, socket.SOCK_RAW, 2)"),
    absent("LLC", "any_family(26)"),
    absent("InfiniBand", "any_family(27, socket.SOCK_RAW)"),
    absent("MPLS", "any_family(28)"),
    absent("ISDN", "any_family(34)"),
    absent("Phonet", "any_family(35)"),
    absent("IEEE 802.15.4", "any_family(36)"),
    absent("CAIF", "any_family(37)"),
    absent("NFC", "any_family(39)"),
    absent("KCM", "any_family(41)"),
    absent("Qualcomm's router", "any_family(42)"),
    absent("SMC", "any_family(43, socket.SOCK_STREAM)"),
    absent("MCTP", "any_family(45)"),
    absent("a family that is none", "any_family(99)"),
    absent("a family with high bits set", "syscall(41, (1 << 32) | 40, 1, 0)"),
];

const UNSEEN: &[Attack] = &[
    unseen("io_uring", "syscall(425, 8, ctypes.addressof(ctypes.create_string_buffer(256)))", &["ENOSYS"]),
    unseen("VSOCK by x32", "syscall(0x40000000 | 41, 40, 1, 0)", &["ENOSYS"]),
    unseen("IPv4 by x32", "syscall(0x40000000 | 41, 2, 1, 0)", &["ENOSYS"]),
    unseen("VSOCK by i386", "in_child(lambda: by_i386(359, 40, 1, 0))", &["EAFNOSUPPORT", "ENOSYS", "died"]),
    unseen("VSOCK by i386's multiplexer", "in_child(lambda: by_i386(102, 1, 0, 0))", &["ENOSYS", "died"]),
    unseen("io_uring by i386", "in_child(lambda: by_i386(425, 8, 0, 0))", &["ENOSYS", "died"]),
    unseen(
        "a pair of VSOCK",
        "syscall(53, 40, 1, 0, ctypes.addressof(ctypes.create_string_buffer(8)))",
        &["ENOTSUP", "EAFNOSUPPORT", "ESOCKTNOSUPPORT"],
    ),
    unseen(
        "a pair of TIPC",
        "syscall(53, 30, 5, 0, ctypes.addressof(ctypes.create_string_buffer(8)))",
        &["EAFNOSUPPORT", "ENOTSUP"],
    ),
    attack(
        "SMC as a protocol of IPv4",
        "tcp(v4, 443, hello(sni(host)), protocol=256)",
        &["EPROTONOSUPPORT", "alert 49"],
    )
    .control("tcp(v4, 443, hello(sni(host)))"),
];

#[test]
fn families() {
    attempt("families", FAMILIES);
}

#[test]
fn unseen_ways() {
    attempt("unseen ways", UNSEEN);
}
