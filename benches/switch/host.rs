//! The whole benchmark: one lab, a server in it, a sealed client, and an operator who switches.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};
use std::{env, fs};

use crate::Result;
use crate::control::Control;
use crate::wire::{CUT, CUT_PORT, KEPT, KEPT_PORT, SERVER};

const CLOSEDBOOK: &str = env!("CARGO_BIN_EXE_closedbook");
/// How long bytes that come too late are waited for.
const LATE: Duration = Duration::from_millis(50);

/// Measures, checks, prints.
pub(crate) fn run(flows: usize, rounds: usize, pause: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let policy = folder.path().join("policy.toml");
    fs::write(&policy, document())?;
    let socket = folder.path().join("control.sock");
    let this = env::current_exe()?;
    let mut client = Player::start(
        Command::new(CLOSEDBOOK)
            .args(["run", "--quiet", "--lab", "--phase", "setup", "--policy"])
            .arg(&policy)
            .arg("--control")
            .arg(&socket)
            .args([
                "--",
                "sh",
                "-c",
                "basename \"$(dirname \"$SSL_CERT_FILE\")\" | cut -d- -f2-; read go; exec \"$0\" client \"$1\" \"$2\"",
            ])
            .arg(&this)
            .arg(flows.to_string())
            .arg(pause.to_string()),
    )?;
    let lab = client.line()?;
    let mut server = Player::start(
        Command::new(CLOSEDBOOK).args(["lab", "exec", "--name", &lab, "--"]).arg(&this).arg("server"),
    )?;
    server.line()?;
    eprintln!("bench: {flows} connections are made");
    if client.ask("go")? != "ready" {
        return Err("the client is not ready".into());
    }
    let times = switches(&mut client, &mut server, &socket, flows, rounds)?;
    let whole = client.ask("end")?;
    if whole != (flows / 2).to_string() {
        return Err(format!("of {} permitted connections only {whole} lost nothing", flows / 2).into());
    }
    println!(
        "switch of phase, {flows} connections that pause for {pause} ms between messages, half become forbidden, {rounds} times:"
    );
    println!(
        "  answered after    p50 {:.1} ms  p90 {:.1} ms  most {:.1} ms",
        at(&times, 50),
        at(&times, 90),
        at(&times, 100)
    );
    println!(
        "  late bytes        none: the last to arrive for the forbidden host did so before the answer, every time"
    );
    println!("  permitted         all {} whole, message by message", flows / 2);
    Ok(())
}

fn document() -> String {
    let cut = format!("\"{KEPT}:{KEPT_PORT}\", \"{CUT}:{CUT_PORT}\"");
    format!(
        "schema = 1\n[phase.setup]\nallow = [{cut}]\n[phase.agent]\nallow = [\"{KEPT}:{KEPT_PORT}\"]\n\
         [route]\n\"{KEPT}\" = \"{SERVER}:{KEPT_PORT}\"\n\"{CUT}\" = \"{SERVER}:{CUT_PORT}\"\n"
    )
}

/// Switches back and forth; how long the narrowing ones took, in milliseconds, sorted.
fn switches(
    client: &mut Player,
    server: &mut Player,
    socket: &Path,
    flows: usize,
    rounds: usize,
) -> Result<Vec<f64>> {
    let mut control = Control::connect(socket)?;
    let half = flows as u64 / 2;
    let mut times = Vec::new();
    for round in 1..=rounds {
        client.ask("open")?;
        let switched = control.switch("agent")?;
        if (switched.cut, switched.kept) != (half, half) {
            return Err(format!("round {round}: cut {}, kept {}", switched.cut, switched.kept).into());
        }
        let resets = client.ask("settle")?;
        thread::sleep(LATE);
        let last: u64 = server.ask("?")?.parse()?;
        let answered = switched.at.duration_since(SystemTime::UNIX_EPOCH)?.as_nanos();
        if u128::from(last) > answered {
            let late = (u128::from(last) - answered) as f64 / 1e3;
            return Err(
                format!("round {round}: a byte arrived {late} us after the switch was answered").into()
            );
        }
        if resets != half.to_string() {
            return Err(format!("round {round}: {resets} connections of {half} saw a reset").into());
        }
        times.push(switched.took.as_secs_f64() * 1e3);
        control.switch("setup")?;
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn at(sorted: &[f64], percent: usize) -> f64 {
    let index = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}

/// A process that answers each line with a line, and ends with this value.
struct Player {
    child: Child,
    hears: Option<ChildStdin>,
    says: BufReader<ChildStdout>,
}

impl Player {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let says = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let hears = child.stdin.take();
        Ok(Self { child, hears, says })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.says.read_line(&mut line)? {
            0 => Err(format!("process {} has ended before its time", self.child.id()).into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    fn ask(&mut self, order: &str) -> Result<String> {
        writeln!(self.hears.as_mut().ok_or("no stdin")?, "{order}")?;
        self.line()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // The end of its stdin is the order to end.
        drop(self.hears.take());
        let _ = self.child.wait();
    }
}
