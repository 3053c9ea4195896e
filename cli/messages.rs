//! The program's own messages, apart from the decision log: on stderr, as many as `CLOSEDBOOK_LOG` asks for.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

use crate::exit::Failure;

/// Says which: `debug`, `closedbook_sidecar=trace`, ... as tracing-subscriber reads it.
const VARIABLE: &str = "CLOSEDBOOK_LOG";

/// What is said without being asked: what the user must know, and nothing that a library thinks.
const DEFAULT: &str = "off,closedbook=error,closedbook_sidecar=error";

/// What the user asks for.
pub(crate) fn asked() -> Result<Option<String>, Failure> {
    let Some(filter) = std::env::var_os(VARIABLE) else { return Ok(None) };
    let filter = filter.into_string().map_err(|_| Failure::usage(format!("{VARIABLE} is no text")))?;
    EnvFilter::try_new(&filter).map_err(|error| {
        Failure::usage(format!("{VARIABLE}={filter}: {error}"))
            .remedy("write a level (error, warn, info, debug, trace), or closedbook_sidecar=debug")
    })?;
    Ok(Some(filter))
}

/// From now on. The first one to say how is heeded.
pub(crate) fn start(filter: Option<&str>) {
    let filter = EnvFilter::new(filter.unwrap_or(DEFAULT));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .try_init();
}
