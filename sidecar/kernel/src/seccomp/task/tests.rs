//! G9: the filter, run instruction by instruction on made-up system calls.

use super::super::machine::{self, ALLOWED, KILLED, refused};
use super::*;

fn run(architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    machine::run(&task_filter(), architecture, number, arguments)
}

#[test]
fn only_families_that_belong_to_a_namespace_or_the_file_system() {
    for calls in TABLES {
        for family in 0..64u64 {
            let expected =
                if [1, 2, 10, 16, 17].contains(&family) { ALLOWED } else { refused(libc::EAFNOSUPPORT) };
            assert_eq!(
                run(calls.architecture, calls.socket, [family, 1, 0, 0, 0, 0]),
                expected,
                "family {family}"
            );
        }
        // The kernel looks at the lower half alone; a filter that compared all 64 bits would be fooled.
        let dressed_up = 0xffff_ffff_0000_0028;
        assert_eq!(
            run(calls.architecture, calls.socket, [dressed_up, 1, 0, 0, 0, 0]),
            refused(libc::EAFNOSUPPORT)
        );
    }
}

#[test]
fn nobody_types_into_the_terminal() {
    for calls in TABLES {
        for (request, expected) in [
            (0x5412, refused(libc::EPERM)),
            (0x541c, refused(libc::EPERM)),
            (0xffff_ffff_0000_5412, refused(libc::EPERM)),
            (0x5413, ALLOWED), // TIOCGWINSZ
            (0x5401, ALLOWED), // TCGETS
        ] {
            assert_eq!(
                run(calls.architecture, calls.ioctl, [0, request, 0, 0, 0, 0]),
                expected,
                "{request:#x}"
            );
        }
    }
}

#[test]
fn ways_round_a_filter_are_closed_and_the_rest_is_open() {
    for calls in TABLES {
        assert_eq!(run(calls.architecture, calls.io_uring_setup, [0; 6]), refused(libc::ENOSYS));
        if let Some(socketcall) = calls.socketcall {
            assert_eq!(run(calls.architecture, socketcall, [1; 6]), refused(libc::ENOSYS));
        }
        for number in 0..600 {
            let special = [calls.socket, calls.ioctl, calls.io_uring_setup].contains(&number);
            if !special && calls.socketcall != Some(number) {
                assert_eq!(run(calls.architecture, number, [40; 6]), ALLOWED, "call {number}");
            }
        }
    }
    assert_eq!(run(0xdead_beef, 0, [0; 6]), KILLED);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn x32_numbers_are_refused() {
    assert_eq!(run(0xc000_003e, 0x4000_0000 | 41, [40, 1, 0, 0, 0, 0]), refused(libc::ENOSYS));
}
