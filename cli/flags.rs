//! Flags that several commands share.

use std::fs::{File, OpenOptions};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use closedbook_sidecar::outer::Widen;

use crate::exit::Failure;

pub(crate) mod agent;
pub(crate) mod evidence;
pub(crate) mod keeper;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod shelf;

/// `--resolver`: addresses with or without a port; `None` if the flag was not given.
pub(crate) fn resolvers(given: &[String]) -> Result<Option<Vec<SocketAddr>>, Failure> {
    let read = |text: &String| {
        text.parse::<SocketAddr>()
            .or_else(|_| text.parse::<IpAddr>().map(|address| SocketAddr::new(address, 53)))
            .map_err(|_| {
                Failure::usage(format!("--resolver {text}: not an address"))
                    .remedy("write 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53")
            })
    };
    let read = given.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok((!read.is_empty()).then_some(read))
}

/// `--widen`.
pub(crate) fn widen(text: &str) -> Result<Widen, String> {
    Widen::parse(text).ok_or_else(|| {
        let words: Vec<&str> = Widen::ALL.iter().map(|(word, _)| *word).collect();
        format!("it is one of {}", words.join(", "))
    })
}

/// A file that is added to, or made.
pub(crate) fn open_output(flag: &str, path: &Path) -> Result<File, Failure> {
    let open = || -> io::Result<File> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        match file.metadata()?.is_dir() {
            true => Err(io::ErrorKind::IsADirectory.into()),
            false => Ok(file),
        }
    };
    open().map_err(|error| {
        Failure::usage(format!("{flag} {}: can't be written: {error}", path.display()))
            .remedy("name a file in a folder that you may write to")
    })
}
