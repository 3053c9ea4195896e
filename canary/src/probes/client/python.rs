//! Python 3 with its own library.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Page, Scheme, refused};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::child::{self, Said};
use crate::wire::reply;

/// Starting it takes a while on a busy machine.
const WITHIN: Duration = Duration::from_secs(12);
/// Asks for a page, and says in one line of JSON what came of it.
const SCRIPT: &str = include_str!("fetch.py");

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "client-python-refused",
        group: Group::Client,
        leak: "what Python's own library gets through, whatever this program's own protocols do",
        how: "the image's Python asks for a page of the witness, by name and at a given address, over TLS and in the clear",
        expected: "refused at once, by an error that says so: no such host, a TLS alert, 403",
        sources: &["https://docs.python.org/3/library/urllib.request.html"],
        needs: &[Need::Python],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(30),
        run: refusals,
    },
    Probe {
        id: "client-python-permitted",
        group: Group::Client,
        leak: "none: a filter that ordinary clients can't get through with what is permitted is of no use",
        how: "the image's Python asks for a page of the first permitted host, and verifies its certificate",
        expected: "an HTTP answer",
        sources: &["https://docs.python.org/3/library/ssl.html"],
        needs: &[Need::Python, Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(30),
        run: permitted,
    },
];

fn refusals(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let Some(python) = trial.around().python.as_deref() else { return };
    let nowhere = targets.foreign().nowhere;
    let attempts = refused(targets).map(|(what, page)| {
        let to = page.at.map_or_else(|| page.name.to_owned(), |at| at.to_string());
        Attempt::new(what, to, Want::Stopped, move |nonce| fetch(python, page, nonce)).nowhere(nowhere)
    });
    trial.attempt_all(attempts.into());
}

fn permitted(trial: &mut Trial<'_>) {
    let trust = trial.targets().trust.as_deref();
    let (Some(python), Some(host)) = (trial.around().python.as_deref(), trial.https()) else { return };
    let page = Page { scheme: Scheme::Https, name: &host.name, at: None, trust };
    let fetch = |nonce: &Nonce| fetch(python, page, nonce);
    trial.attempt(Attempt::new("https, by name", &host.name, Want::reached(&host.name), fetch));
}

/// What the script is asked.
#[derive(Serialize)]
struct Question<'a> {
    url: String,
    nonce: &'a Nonce,
    at: Option<String>,
    trust: Option<&'a str>,
}

/// What it says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum Answer {
    Http { status: u16, head: String, body: String },
    NoAddress,
    Refused,
    Reset,
    Closed,
    Timeout,
    Unreachable { errno: String },
    Alert { reason: String },
    BadChain { why: String },
    Other { why: String },
}

fn fetch(python: &Path, page: Page<'_>, nonce: &Nonce) -> Seen {
    let url = format!("{}://{}/canary?nonce={nonce}", page.scheme.word(), page.name);
    let question = Question { url, nonce, at: page.at.map(|at| at.ip().to_string()), trust: page.trust };
    let question = match serde_json::to_vec(&question) {
        Ok(question) => question,
        Err(error) => return Seen::failed(error),
    };
    // Isolated from what a user has set up for Python; a proxy of the environment counts, as for every client.
    let mut command = Command::new(python);
    command.args(["-I", "-c", SCRIPT]);
    match child::run(&mut command, &question, WITHIN) {
        Ok(said) => read(&said, page, nonce),
        Err(seen) => seen,
    }
}

fn read(said: &Said, page: Page<'_>, nonce: &Nonce) -> Seen {
    if said.status.is_none() {
        return Seen::Silence;
    }
    let answer: Answer = match serde_json::from_slice(&said.output) {
        Ok(answer) if said.code() == Some(0) => answer,
        _ => return Seen::failed(format!("Python: {}", said.complaint())),
    };
    match answer {
        Answer::Http { status, head, body } => {
            let octets = format!("HTTP/1.1 {status} \r\n{head}\r\n\r\n{body}").into_bytes();
            match reply::classify(&octets, nonce) {
                // It has verified the certificate, or it would be an error.
                Seen::Answered { status, .. } if page.scheme == Scheme::Https && page.at.is_none() => {
                    Seen::Verified { name: page.name.to_owned(), status }
                }
                seen => seen,
            }
        }
        Answer::NoAddress => Seen::Dns { code: "no address".to_owned(), answers: Vec::new() },
        Answer::Refused => Seen::Refused,
        Answer::Reset => Seen::Reset,
        Answer::Closed => Seen::Closed,
        Answer::Timeout => Seen::Silence,
        Answer::Unreachable { errno } => Seen::Unreachable { errno },
        Answer::Alert { reason } => match alert(&reason) {
            Some(description) => Seen::Alert { description },
            None => Seen::failed(format!("Python: {reason}")),
        },
        // A certificate came, so somebody answered.
        Answer::BadChain { why } => Seen::BadChain { name: page.name.to_owned(), why },
        Answer::Other { why } => Seen::failed(format!("Python: {why}")),
    }
}

/// OpenSSL's names of the alerts that a filter or a server may send (RFC 8446 section 6).
fn alert(reason: &str) -> Option<u8> {
    let (_, name) = reason.split_once("_ALERT_")?;
    Some(match name {
        "UNEXPECTED_MESSAGE" => 10,
        "HANDSHAKE_FAILURE" => 40,
        "ACCESS_DENIED" => 49,
        "DECODE_ERROR" => 50,
        "PROTOCOL_VERSION" => 70,
        "INTERNAL_ERROR" => 80,
        "UNRECOGNIZED_NAME" => 112,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn seen(code: i32, output: &str) -> Seen {
        let status = Some(ExitStatus::from_raw(code << 8));
        let said = Said { status, output: output.as_bytes().to_vec(), errors: b"Traceback".to_vec() };
        let page = Page { scheme: Scheme::Https, name: "a.example", at: None, trust: None };
        read(&said, page, &Nonce::fresh().unwrap())
    }

    #[test]
    fn a_refusal_is_told_from_a_fault() {
        assert_eq!(seen(0, r#"{"kind":"refused"}"#), Seen::Refused);
        assert!(matches!(seen(0, r#"{"kind":"no-address"}"#), Seen::Dns { .. }));
        let denied = r#"{"kind":"alert","reason":"TLSV1_ALERT_ACCESS_DENIED"}"#;
        assert_eq!(seen(0, denied), Seen::Alert { description: 49 });
        let page = r#"{"kind":"http","status":200,"head":"content-length: 2","body":"ok"}"#;
        assert_eq!(seen(0, page), Seen::Verified { name: "a.example".into(), status: 200 });
        for (code, output) in [(0, ""), (1, denied), (0, r#"{"kind":"other","why":"x"}"#), (0, "{}")] {
            assert!(matches!(seen(code, output), Seen::Failed { .. }), "{code} {output}");
        }
    }
}
