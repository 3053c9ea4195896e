//! Filters that allow what is named and nothing else, for the program's own instruction set.

#[cfg(target_arch = "aarch64")]
use super::instruction::AARCH64 as NATIVE;
use super::instruction::{
    ARCHITECTURE, Instruction, NUMBER, allow, answer, argument, jump_equal, kill, load, mask, refuse,
    upper_half,
};
#[cfg(target_arch = "x86_64")]
use super::instruction::{X32, X86_64 as NATIVE, jump_at_least};

/// A system call's number, as libc has it.
pub(super) type Call = libc::c_long;

/// What a process may do.
pub(super) struct Allowlist {
    /// Calls that are allowed whatever their arguments.
    pub(super) free: Vec<Call>,
    /// Calls that are looked at more closely.
    pub(super) ruled: Vec<Rule>,
    /// Calls that the program never makes, and that whoever has taken it over would try first. They end the process: a
    /// proxy that is not its own master any more is better dead, and its supervisor says so.
    pub(super) fatal: Vec<Call>,
}

/// What of one call is allowed.
pub(super) struct Rule {
    pub(super) call: Call,
    /// The call passes if all checks of any of these hold.
    pub(super) when: Vec<Vec<Check>>,
    pub(super) otherwise: Otherwise,
}

/// What happens to a call that no alternative lets through.
#[derive(Clone, Copy)]
pub(super) enum Otherwise {
    /// It fails with this error.
    Fails(libc::c_int),
    /// It ends the process.
    Kills,
}

/// Something about an argument. All but [`Check::Null`] look at the lower half alone, as the kernel does for arguments
/// of type `int`.
#[derive(Clone, Copy)]
pub(super) enum Check {
    /// It is this.
    Is(u8, libc::c_int),
    /// Of these bits it has exactly those.
    Bits { argument: u8, mask: libc::c_int, has: libc::c_int },
    /// It is a null pointer.
    Null(u8),
}

impl Allowlist {
    /// The filter. What is not named fails with ENOSYS: a library that tries a newer call first goes on with the older
    /// one, and one whose calls change with its next version fails instead of taking the process with it.
    pub(super) fn assemble(&self) -> Vec<Instruction> {
        let mut program = vec![load(ARCHITECTURE), jump_equal(NATIVE, 1, 0), kill(), load(NUMBER)];
        #[cfg(target_arch = "x86_64")]
        program.extend([jump_at_least(X32, 0, 1), kill()]);
        for call in &self.free {
            program.extend([jump_equal(*call as u32, 0, 1), allow()]);
        }
        for rule in &self.ruled {
            let body = rule.assemble();
            // A jump's distance is one byte, which the tests would notice: a longer body misses its end.
            program.push(jump_equal(rule.call as u32, 0, u8::try_from(body.len()).unwrap_or(u8::MAX)));
            program.extend(body);
        }
        for call in &self.fatal {
            program.extend([jump_equal(*call as u32, 0, 1), kill()]);
        }
        program.push(refuse(libc::ENOSYS));
        program
    }
}

impl Rule {
    /// The call passes if its argument is one of these.
    pub(super) fn one_of(call: Call, argument: u8, values: &[libc::c_int], otherwise: Otherwise) -> Self {
        let when = values.iter().map(|value| vec![Check::Is(argument, *value)]).collect();
        Self { call, when, otherwise }
    }

    /// The call passes if these hold.
    pub(super) fn all_of(call: Call, checks: &[Check], otherwise: Otherwise) -> Self {
        Self { call, when: vec![checks.to_vec()], otherwise }
    }

    /// The call fails, whatever its arguments, with an error that says more than "there is no such call".
    pub(super) fn never(call: Call, errno: libc::c_int) -> Self {
        Self { call, when: Vec::new(), otherwise: Otherwise::Fails(errno) }
    }

    fn assemble(&self) -> Vec<Instruction> {
        let mut body = Vec::new();
        for checks in &self.when {
            body.extend(alternative(checks));
        }
        body.push(match self.otherwise {
            Otherwise::Fails(errno) => refuse(errno),
            Otherwise::Kills => answer(libc::SECCOMP_RET_KILL_PROCESS),
        });
        body
    }
}

/// Ends by letting the call through, or goes on behind itself.
fn alternative(checks: &[Check]) -> Vec<Instruction> {
    let steps: Vec<Step> = checks.iter().flat_map(|check| check.steps()).collect();
    let length = steps.len() + 1;
    let mut body: Vec<Instruction> = steps
        .into_iter()
        .enumerate()
        .map(|(at, step)| match step {
            Step::Do(instruction) => instruction,
            // Over the rest, this alternative's `allow` included.
            Step::Must(value) => jump_equal(value, 0, u8::try_from(length - at - 1).unwrap_or(u8::MAX)),
        })
        .collect();
    body.push(allow());
    body
}

enum Step {
    Do(Instruction),
    Must(u32),
}

impl Check {
    fn steps(self) -> Vec<Step> {
        match self {
            Check::Is(index, value) => vec![Step::Do(load(argument(index))), Step::Must(value as u32)],
            Check::Bits { argument: index, mask: bits, has } => {
                vec![Step::Do(load(argument(index))), Step::Do(mask(bits as u32)), Step::Must(has as u32)]
            }
            Check::Null(index) => vec![
                Step::Do(load(argument(index))),
                Step::Must(0),
                Step::Do(load(upper_half(index))),
                Step::Must(0),
            ],
        }
    }
}
