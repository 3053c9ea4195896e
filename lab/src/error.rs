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
    /// The ids of this process can't be read.
    #[error("can't read this process's id maps")]
    IdMaps(#[source] io::Error),
    /// The new user namespace got no ids.
    #[error(transparent)]
    IdMap(#[from] closedbook_kernel::idmap::IdMapError),
    /// No child in new namespaces.
    #[error(transparent)]
    Fork(#[from] closedbook_kernel::fork::ForkError),
    /// A namespace of the lab can't be joined.
    #[error(transparent)]
    Namespace(#[from] closedbook_kernel::namespace::NamespaceError),
    /// The lab's pid namespace can't be joined.
    #[error("can't join the pid namespace")]
    Pids(#[source] io::Error),
    /// The lab's files can't be arranged.
    #[error(transparent)]
    Mount(#[from] closedbook_kernel::mounts::MountError),
    /// The lab's network can't be laid.
    #[error("can't lay the routes of the lab")]
    Routes(#[source] io::Error),
    /// The working directory is gone, or is not seen from inside.
    #[error("can't keep the working directory")]
    Directory(#[source] io::Error),
    /// The lab can't leave the caller's terminal.
    #[error("can't step aside from the caller's session")]
    Aside(#[source] io::Error),
    /// No threads, or no signal handlers.
    #[error("can't start the servers' runtime")]
    Runtime(#[source] io::Error),
    /// Parent and lab can't talk.
    #[error("the socket between the lab and its parent broke")]
    Lifeline(#[source] io::Error),
    /// The lab ended without a word.
    #[error("the lab ended before it was ready")]
    Died,
    /// What the lab's first process said on its end.
    #[error("{0}")]
    Inside(String),
    /// The lab can't be waited for.
    #[error("can't wait for the lab")]
    Wait(#[source] nix::errno::Errno),
    /// The running lab said no, or something that is not an answer.
    #[error("the lab answered: {0}")]
    Answer(String),
}
