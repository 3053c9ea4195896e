//! curl.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Page, Scheme, refused};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::child::{self, Said};
use crate::wire::reply;

/// After which curl gives up, and after which it is given up.
const MAX_TIME: &str = "6";
const WITHIN: Duration = Duration::from_secs(9);
/// Where distributions keep their list of certificates.
const BUNDLES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "client-curl-refused",
        group: Group::Client,
        leak: "what curl gets through, whatever this program's own protocols do",
        how: "the image's curl asks for a page of the witness, by name and at a given address, over TLS and in the clear",
        expected: "refused at once, by an error that says so: no such host, a TLS alert, 403",
        sources: &["https://curl.se/libcurl/c/libcurl-errors.html"],
        needs: &[Need::Curl],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(20),
        run: refusals,
    },
    Probe {
        id: "client-curl-permitted",
        group: Group::Client,
        leak: "none: a filter that ordinary clients can't get through with what is permitted is of no use",
        how: "the image's curl asks for a page of the first permitted host, and verifies its certificate",
        expected: "an HTTP answer",
        sources: &["https://curl.se/docs/manpage.html"],
        needs: &[Need::Curl, Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(20),
        run: permitted,
    },
];

fn refusals(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let Some(curl) = trial.around().curl.as_deref() else { return };
    let nowhere = targets.foreign().nowhere;
    let attempts = refused(targets).map(|(what, page)| {
        let to = page.at.map_or_else(|| page.name.to_owned(), |at| at.to_string());
        Attempt::new(what, to, Want::Stopped, move |nonce| fetch(curl, page, nonce)).nowhere(nowhere)
    });
    trial.attempt_all(attempts.into());
}

fn permitted(trial: &mut Trial<'_>) {
    let trust = trial.targets().trust.as_deref();
    let (Some(curl), Some(host)) = (trial.around().curl.as_deref(), trial.https()) else { return };
    let page = Page { scheme: Scheme::Https, name: &host.name, at: None, trust };
    let fetch = |nonce: &Nonce| fetch(curl, page, nonce);
    trial.attempt(Attempt::new("https, by name", &host.name, Want::reached(&host.name), fetch));
}

fn fetch(curl: &Path, page: Page<'_>, nonce: &Nonce) -> Seen {
    let Page { scheme, name, at, trust } = page;
    let mut command = Command::new(curl);
    // Nobody's ~/.curlrc; the head of the answer as well; errors, but no progress.
    command.args(["-q", "-sS", "-i", "--max-time", MAX_TIME, "-H", &format!("X-Nonce: {nonce}")]);
    if let Some(at) = at {
        command.args(["--resolve", &format!("{name}:{}:{}", at.port(), at.ip())]);
    }
    if trust.is_some() {
        // No file has to be written for it, nor be readable for this user.
        command.args(["--cacert", "/dev/stdin"]);
    }
    command.arg(format!("{}://{name}/canary?nonce={nonce}", scheme.word()));
    let trusted = trust.map(with_the_usual).unwrap_or_default();
    match child::run(&mut command, trusted.as_bytes(), WITHIN) {
        Ok(said) => read(&said, page, nonce),
        Err(seen) => seen,
    }
}

/// curl trusts the given file alone; where the image has its list, that is put behind.
fn with_the_usual(trust: &str) -> String {
    let usual = BUNDLES.iter().find_map(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    format!("{trust}\n{usual}")
}

/// curl's exit codes (curl(1)). What is none of a refusal's is a fault of the try: 2 usage, 60 certificate, 77 no CA file.
fn read(said: &Said, page: Page<'_>, nonce: &Nonce) -> Seen {
    let complaint = said.complaint();
    let lower = complaint.to_ascii_lowercase();
    let says = |word: &str| lower.contains(word);
    let failed = || Seen::failed(format!("curl: {complaint}"));
    match said.code() {
        None => Seen::Silence,
        Some(0) => match reply::classify(&said.output, nonce) {
            // It has verified the certificate, or its code would be 60.
            Seen::Answered { status, .. } if page.scheme == Scheme::Https && page.at.is_none() => {
                Seen::Verified { name: page.name.to_owned(), status }
            }
            Seen::Closed => failed(),
            seen => seen,
        },
        Some(6) => Seen::Dns { code: "no address".to_owned(), answers: Vec::new() },
        Some(7) if says("unreachable") || says("no route") => {
            Seen::Unreachable { errno: "EHOSTUNREACH".to_owned() }
        }
        Some(7) => Seen::Refused,
        Some(28) => Seen::Silence,
        Some(35 | 56) => match alert(&lower) {
            Some(description) => Seen::Alert { description },
            None if says("reset") => Seen::Reset,
            // OpenSSL's word for an end that it did not expect.
            None if says("eof") || says("closed") || says("ssl_error_syscall") => Seen::Closed,
            None => failed(),
        },
        Some(52) => Seen::Closed,
        Some(_) => failed(),
    }
}

/// The number of an alert: OpenSSL's reasons are 1000 more (ssl/sslerr.h), in hex after the library's number; other
/// libraries have words alone.
fn alert(complaint: &str) -> Option<u8> {
    let code = complaint.split_once("error:").and_then(|(_, rest)| rest.get(..8));
    let reason = code.and_then(|code| u32::from_str_radix(code, 16).ok()).map(|code| code & 0x7f_ffff);
    let number = reason.and_then(|reason| u8::try_from(reason.checked_sub(1000)?).ok());
    match number {
        Some(number) if complaint.contains("alert") => Some(number),
        _ if complaint.contains("access was denied") || complaint.contains("access denied") => Some(49),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn seen(code: i32, errors: &str) -> Seen {
        let status = Some(ExitStatus::from_raw(code << 8));
        let said = Said { status, output: Vec::new(), errors: errors.as_bytes().to_vec() };
        let page = Page { scheme: Scheme::Https, name: "a.example", at: None, trust: None };
        read(&said, page, &Nonce::fresh().unwrap())
    }

    #[test]
    fn a_refusal_is_told_from_a_fault() {
        let openssl = "curl: (35) OpenSSL/3.0.19: error:0A000419:SSL routines::tlsv1 alert access denied";
        assert_eq!(seen(35, openssl), Seen::Alert { description: 49 });
        let gnutls = "curl: (35) gnutls_handshake() failed: Access was denied";
        assert_eq!(seen(35, gnutls), Seen::Alert { description: 49 });
        let ended = "curl: (35) OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to a:443";
        assert_eq!(seen(35, ended), Seen::Closed);
        assert_eq!(seen(35, "curl: (35) Recv failure: Connection reset by peer"), Seen::Reset);
        assert_eq!(seen(7, "curl: (7) Failed to connect to a port 443: Connection refused"), Seen::Refused);
        assert!(matches!(seen(6, "curl: (6) Could not resolve host: a"), Seen::Dns { .. }));
        for (code, text) in [
            (2, "curl: option --nonsense: is unknown"),
            (35, "curl: (35) error:0A00018A:SSL routines::dh key too small"),
            (60, "curl: (60) SSL certificate problem: unable to get local issuer certificate"),
            (77, "curl: (77) error setting certificate verify locations"),
            (127, ""),
            (0, ""),
        ] {
            assert!(matches!(seen(code, text), Seen::Failed { .. }), "{code} {text}");
        }
    }

    #[test]
    fn one_that_was_killed_was_not_answered() {
        let said = Said { status: None, output: Vec::new(), errors: Vec::new() };
        let page = Page { scheme: Scheme::Http, name: "a.example", at: None, trust: None };
        assert_eq!(read(&said, page, &Nonce::fresh().unwrap()), Seen::Silence);
    }
}
