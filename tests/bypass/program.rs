//! The attack programs: Python that takes orders on its standard input.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Mode, Run, beginning_as, offspring, python};

/// What every attack program begins with.
pub(crate) const PROGRAM: &str = concat!(
    include_str!("programs/attack.py"),
    include_str!("programs/tls.py"),
    include_str!("programs/http.py"),
    include_str!("programs/dns.py"),
    include_str!("programs/raw.py"),
    include_str!("programs/privilege.py"),
    "\nif len(sys.argv) > 1:\n    enter(sys.argv[1])\n",
    "for line in sys.stdin:\n    print(json.dumps(answer(json.loads(line))), flush=True)\n",
);

/// What came of each attack, by its name.
pub(crate) type Results = BTreeMap<String, Value>;

/// The attack program as a sealed command that runs, and where to find it.
pub(crate) struct Sealed {
    pub(crate) program: Program,
    /// The command itself, in the network that the attacks are about.
    pub(crate) task: u32,
    /// The proxy, in the lab's network.
    pub(crate) proxy: u32,
}

impl Sealed {
    /// Returns when the command is there.
    pub(crate) fn start(run: &Run) -> Self {
        let mut program = Program::start(&mut run.command(&[python(), "-c", PROGRAM]));
        program.order(&json!({"attacks": [], "together": false, "wait": 1}));
        let all = offspring(program.child.id());
        let proxy = all.iter().find(|process| process.words.iter().any(|word| word == "outer")).unwrap().pid;
        let task = all.iter().find(|process| process.words[0] == python()).unwrap().pid;
        Self { program, task, proxy }
    }
}

/// A running attack program.
pub(crate) struct Program {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Program {
    /// Of this command line.
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, orders, answers }
    }

    /// In the network of this process, with every capability.
    pub(crate) fn inside(mode: Mode, pid: u32) -> Self {
        Self::start(beginning_as(mode).args([python(), "-c", PROGRAM, &pid.to_string()]))
    }

    pub(crate) fn order(&mut self, job: &Value) -> Results {
        writeln!(self.orders, "{job}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?} to {job}"))
    }

    /// Closes its input and waits.
    pub(crate) fn end(self) -> Output {
        let Self { child, orders, answers } = self;
        drop(orders);
        drop(answers);
        child.wait_with_output().unwrap()
    }
}
