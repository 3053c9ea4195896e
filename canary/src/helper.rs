//! A process of its own for what a worker must not do to itself: enter another place, or have been started before
//! something happened. The same program, told what to do line by line.

use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use nix::sched::CloneFlags;
use serde::{Deserialize, Serialize};

use crate::nonce::Nonce;
use crate::seen::Seen;
use crate::wire::child::Ended;
use crate::wire::{PATIENCE, http, tcp, tls, udp};

/// One thing that a helper does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    /// Joins the cgroup in this folder.
    JoinCgroup(PathBuf),
    /// Makes a user and a network namespace of its own, and enters them.
    NewNamespaces,
    /// Enters the network namespace that this file stands for.
    EnterNetwork(PathBuf),
    /// A request in the clear to this address, for this name.
    Ask(SocketAddr, String, Nonce),
    /// The nonce in a datagram.
    Send(SocketAddr, Nonce),
    /// An HTTPS request.
    Get {
        /// Where.
        to: SocketAddr,
        /// For whom.
        name: String,
        /// Certificates to trust beside the usual ones.
        trust: Option<String>,
        /// Its mark.
        nonce: Nonce,
    },
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    /// Done; there is nothing to see.
    Done,
    /// This was seen.
    Saw(Seen),
}

/// A helper at work. It ends with this value.
#[derive(Debug)]
pub(crate) struct Helper {
    child: Ended,
    answers: Receiver<String>,
}

impl Helper {
    /// Starts one, with this process's environment or without any.
    pub(crate) fn start(environment: Environment) -> Result<Self, Seen> {
        let mut command = Command::new("/proc/self/exe");
        // This program may be a part of another one: what stands before its own word leads here again.
        command.args(std::env::args_os().skip(1).take_while(|word| word != "worker")).arg("helper");
        if environment == Environment::Empty {
            command.env_clear();
        }
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |error: io::Error| Seen::failed(format!("no process of its own: {error}"));
        let mut child = piped.spawn().map(Ended).map_err(failed)?;
        let output = child.0.stdout.take().ok_or_else(|| Seen::failed("a process without a pipe"))?;
        let (tell, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, answers })
    }

    /// Lets it go to another place.
    pub(crate) fn enter(&mut self, step: &Step) -> Result<(), Seen> {
        match self.ask(step)? {
            Answer::Done => Ok(()),
            Answer::Saw(seen) => Err(seen),
        }
    }

    /// Lets it try something.
    pub(crate) fn attempt(&mut self, step: &Step) -> Seen {
        match self.ask(step) {
            Ok(Answer::Saw(seen)) | Err(seen) => seen,
            Ok(Answer::Done) => Seen::failed("the other process saw nothing"),
        }
    }

    fn ask(&mut self, step: &Step) -> Result<Answer, Seen> {
        let mut line = serde_json::to_string(step).map_err(Seen::failed)?;
        line.push('\n');
        let input = self.child.0.stdin.as_mut().ok_or_else(|| Seen::failed("a process without a pipe"))?;
        let ended =
            |what: &dyn std::fmt::Display| Seen::failed(format!("the other process has ended: {what}"));
        input.write_all(line.as_bytes()).and_then(|()| input.flush()).map_err(|error| ended(&error))?;
        // Its own steps have limits: connecting, sending, receiving.
        let answer = self.answers.recv_timeout(PATIENCE * 4 + Duration::from_secs(1));
        let answer = answer.map_err(|error| ended(&error))?;
        serde_json::from_str(&answer).map_err(Seen::failed)
    }
}

/// What a helper finds in its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Environment {
    /// What this process has.
    Same,
    /// Nothing.
    Empty,
}

/// The other side: takes steps until nobody gives any more.
pub(crate) fn serve(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    for line in input.lines() {
        let answer = match take(serde_json::from_str(&line?)?) {
            None => Answer::Done,
            Some(seen) => Answer::Saw(seen),
        };
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
    }
    Ok(())
}

/// Takes a step. `None`: it was taken, and there is nothing to see.
fn take(step: Step) -> Option<Seen> {
    let denied = |call: &str, error: io::Error| Some(Seen::of_error(call, &error));
    match step {
        Step::JoinCgroup(folder) => match std::fs::write(folder.join("cgroup.procs"), "0") {
            Ok(()) => None,
            Err(error) => denied("write(cgroup.procs)", error),
        },
        Step::NewNamespaces => {
            match nix::sched::unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET) {
                Ok(()) => None,
                Err(error) => denied("unshare", error.into()),
            }
        }
        Step::EnterNetwork(file) => {
            let entered = std::fs::File::open(file)
                .and_then(|file| Ok(nix::sched::setns(file, CloneFlags::CLONE_NEWNET)?));
            entered.err().map(|error| Seen::of_error("setns", &error))
        }
        Step::Ask(to, name, nonce) => Some(tcp::exchange(to, &http::get(&name, &nonce), &nonce)),
        Step::Send(to, nonce) => Some(udp::exchange(to, nonce.as_str().as_bytes(), &nonce)),
        Step::Get { to, name, trust, nonce } => {
            let options = tls::Options { strict: true, ..tls::Options::ordinary(trust.as_deref()) };
            Some(tls::get(to, &name, &name, &options, &nonce))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_answered_in_their_order() {
        let nonce = Nonce::fresh().unwrap();
        // Nobody listens on a port that was just given back.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let steps =
            [Step::EnterNetwork("/nonexistent/ns".into()), Step::Ask(free, "a.example".into(), nonce)];
        let input: String = steps.iter().map(|step| serde_json::to_string(step).unwrap() + "\n").collect();
        let mut output = Vec::new();
        serve(input.as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        let answers: Vec<Answer> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(matches!(answers[0], Answer::Saw(Seen::Failed { .. })));
        assert!(matches!(answers[1], Answer::Saw(Seen::Refused)));
    }
}
