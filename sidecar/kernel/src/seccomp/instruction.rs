//! Classic BPF, as far as the filters use it.

/// One instruction of a classic BPF program.
pub type Instruction = libc::sock_filter;

/// Offsets in `struct seccomp_data`.
pub(super) const NUMBER: u32 = 0;
pub(super) const ARCHITECTURE: u32 = 4;

/// The lower half of an argument on the little-endian machines that are supported.
pub(super) const fn argument(index: u8) -> u32 {
    16 + 8 * index as u32
}

/// The upper half.
pub(super) const fn upper_half(index: u8) -> u32 {
    argument(index) + 4
}

/// x32 shares the architecture of x86-64 and sets this bit of the number.
pub(super) const X32: u32 = 0x4000_0000;

/// `AUDIT_ARCH_X86_64`.
pub(super) const X86_64: u32 = 0xc000_003e;

/// `AUDIT_ARCH_AARCH64`.
#[cfg(target_arch = "aarch64")]
pub(super) const AARCH64: u32 = 0xc000_00b7;

pub(super) fn load(offset: u32) -> Instruction {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

pub(super) fn mask(bits: u32) -> Instruction {
    instruction(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, bits)
}

pub(super) fn jump_equal(value: u32, then: u8, otherwise: u8) -> Instruction {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, then, otherwise, value)
}

pub(super) fn jump_at_least(value: u32, then: u8, otherwise: u8) -> Instruction {
    instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, then, otherwise, value)
}

pub(super) fn answer(action: u32) -> Instruction {
    instruction(libc::BPF_RET | libc::BPF_K, 0, 0, action)
}

pub(super) fn allow() -> Instruction {
    answer(libc::SECCOMP_RET_ALLOW)
}

pub(super) fn refuse(errno: libc::c_int) -> Instruction {
    answer(libc::SECCOMP_RET_ERRNO | errno as u32)
}

pub(super) fn kill() -> Instruction {
    answer(libc::SECCOMP_RET_KILL_PROCESS)
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> Instruction {
    Instruction { code: code as u16, jt, jf, k }
}
