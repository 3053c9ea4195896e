//! A classic BPF machine for the few instructions that the filters use, for tests.

use super::Instruction;

/// What a filter says to a system call.
pub(super) fn run(program: &[Instruction], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let mut data = [0u8; 64];
    data[0..4].copy_from_slice(&number.to_le_bytes());
    data[4..8].copy_from_slice(&architecture.to_le_bytes());
    for (index, argument) in arguments.iter().enumerate() {
        data[16 + 8 * index..24 + 8 * index].copy_from_slice(&argument.to_le_bytes());
    }
    let (mut at, mut accumulator) = (0usize, 0u32);
    loop {
        let instruction = program[at];
        at += 1;
        let mut jump = |holds: bool| at += usize::from(if holds { instruction.jt } else { instruction.jf });
        match u32::from(instruction.code) {
            code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                let offset = instruction.k as usize;
                accumulator = u32::from_le_bytes(data[offset..offset + 4].try_into().unwrap());
            }
            code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => accumulator &= instruction.k,
            code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => jump(accumulator == instruction.k),
            code if code == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K => jump(accumulator >= instruction.k),
            code if code == libc::BPF_RET | libc::BPF_K => return instruction.k,
            code => panic!("an instruction the filter should not have: {code:#x}"),
        }
    }
}

/// The answer that lets a call through.
pub(super) const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;

/// The answer that ends the process.
pub(super) const KILLED: u32 = libc::SECCOMP_RET_KILL_PROCESS;

/// The answer that gives an error.
pub(super) fn refused(errno: libc::c_int) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}
