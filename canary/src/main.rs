//! The canary as a program of its own: static, without library needs, for any image.

use std::process::ExitCode;

fn main() -> ExitCode {
    closedbook_canary::program::main()
}
