//! Typing into the user's own terminal: what the user's shell runs after the command runs with the user's network.
//!
//! Steps: the command pushes characters into its controlling terminal's input (TIOCSTI, or TIOCLINUX on a console), by
//! the plain call, with high bits in the request, through /dev/tty, through i386; the shell would read them as typed.
//!
//! Guarantees: G9 (no side doors). The control: without closedbook the same program's character is there to be read,
//! where the kernel still permits that (sysctl dev.tty.legacy_tiocsti).

use std::fs;

use crate::program::PROGRAM;
use crate::support::{Run, beginning_as, modes, python};

/// Runs its arguments on a new terminal, and prints what they say there.
const ON_A_TERMINAL: &str = r#"
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    said += more
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(said.decode(errors="replace").replace("\r", ""), end="")
sys.exit(code)
"#;

/// Types an X in every way, and tells whether one can be read.
const TYPE: &str = r#"
import termios, tty
tty.setcbreak(0)
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
def by_ioctl(descriptor, request):
    return checked(libc.ioctl(descriptor, ctypes.c_ulong(request), b"X"), "ioctl")
for name, way in {
    "plain": lambda: by_ioctl(0, TIOCSTI),
    "high bits": lambda: by_ioctl(0, (1 << 32) | TIOCSTI),
    "its own name": lambda: by_ioctl(os.open("/dev/tty", os.O_RDWR), TIOCSTI),
    "console": lambda: by_ioctl(0, TIOCLINUX),
    "i386": lambda: in_child(lambda: by_i386(54, 0, TIOCSTI, 0)),
}.items():
    try:
        print(name + ":", way())
    except OSError as error:
        print(name + ":", error_name(error))
print("to read:", os.read(0, 9).decode() if select.select([0], [], [], 0)[0] else "nothing")
"#;

#[test]
fn typing_into_the_terminal() {
    let legacy = fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").unwrap_or_else(|_| "1".into());
    for &mode in modes() {
        let program = format!("{}\n{TYPE}", PROGRAM.split("\nif len(sys.argv)").next().unwrap());
        if legacy.trim() == "1" {
            let open = beginning_as(mode)
                .args([python(), "-c", ON_A_TERMINAL, python(), "-c", &program])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&open.stdout);
            assert!(said.contains("to read: X"), "the control typed nothing: {said}");
        }
        let run = Run::without_uplink(mode);
        let sealed = run.command(&[python(), "-c", &program]);
        let words: Vec<_> = std::iter::once(sealed.get_program()).chain(sealed.get_args()).collect();
        // The first words become the user, the rest needs the terminal.
        let output =
            std::process::Command::new(python()).args(["-c", ON_A_TERMINAL]).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("to read: nothing"), "{mode:?}: {said}");
        for way in ["plain", "high bits", "its own name", "console"] {
            assert!(said.contains(&format!("{way}: EPERM")), "{mode:?}: {said}");
        }
        assert!(
            ["i386: EPERM", "i386: died"].iter().any(|refused| said.contains(refused)),
            "{mode:?}: {said}"
        );
        let _ = run.outcome(output);
    }
}
