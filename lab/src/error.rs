use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a lab can't be.
#[derive(Debug, Error)]
pub enum LabError {
    /// A port the lab serves is taken, or may not be bound.
    #[error("can't listen on {protocol} port {port}")]
    Listen {
        /// `tcp`, `udp` or `sctp`.
        protocol: &'static str,
        /// The port.
        port: u16,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// No packet socket: without one the witness would miss packets that reach no listener.
    #[error("can't watch the packets of this network namespace")]
    Tap(#[source] io::Error),
    /// The authority could not make a key or a certificate.
    #[error("can't make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// rustls refused a certificate or a setting.
    #[error("can't set up TLS")]
    Tls(#[from] rustls::Error),
    /// A file of the lab could not be written, read or made.
    #[error("can't {action} {}", path.display())]
    File {
        /// A verb: `create`, `write`, `read`, `remove`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The directory that would hold the lab's state belongs to somebody else, or others may enter it.
    #[error("{} is not a directory that only you may enter", .0.display())]
    Exposed(PathBuf),
    /// A lab of this name runs already.
    #[error("a lab named {0} is running already")]
    Running(String),
    /// No lab of this name runs.
    #[error("no lab named {0} is running")]
    Absent(String),
    /// A lab's name is a file name: letters, digits, `-` and `_`, at most 40.
    #[error("a lab can't be named {0:?}")]
    Named(String),
    /// The running lab said no, or something that is not an answer.
    #[error("the lab answered: {0}")]
    Answer(String),
}
