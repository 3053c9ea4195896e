//! The filesystem socket over which the inner half hands its listeners to the outer half.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::exit::Failure;

/// How long the outer half waits for the inner half to appear; containers of one project start in any order.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at a path that is not there yet.
const STEP: Duration = Duration::from_millis(20);

/// Binds the socket, mode 0600, in place of one that a former inner half left behind.
pub(super) fn bind(path: &Path) -> Result<UnixListener, Failure> {
    let cannot = |error: io::Error| {
        Failure::usage(format!("--handoff {}: {error}", path.display()))
            .remedy("name a path in a folder that only the two halves of the sidecar can reach")
    };
    refuse_open_folder(path)?;
    match fs::symlink_metadata(path) {
        Ok(old) if old.file_type().is_socket() => fs::remove_file(path).map_err(cannot)?,
        Ok(_) => return Err(cannot(io::ErrorKind::AlreadyExists.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot(error)),
    }
    let listener = UnixListener::bind(path).map_err(cannot)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(cannot)?;
    Ok(listener)
}

/// G10: whoever can replace the socket can hand the proxy other listeners.
fn refuse_open_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let meta = fs::metadata(folder).map_err(|error| {
        Failure::usage(format!("--handoff {}: {}: {error}", path.display(), folder.display()))
    })?;
    if meta.mode() & 0o022 != 0 {
        return Err(Failure::usage(format!(
            "--handoff {}: others may write to {}",
            path.display(),
            folder.display()
        ))
        .remedy(format!("chmod go-w {}", folder.display())));
    }
    Ok(())
}

/// Connects to the inner half, waiting for it to appear.
pub(super) fn connect(path: &Path) -> Result<UnixStream, Failure> {
    let given_up = Instant::now() + PATIENCE;
    loop {
        match UnixStream::connect(path) {
            Ok(socket) => return Ok(socket),
            Err(error) if Instant::now() >= given_up => {
                return Err(Failure::refused(format!(
                    "--handoff {}: no inner half after {} s: {error}",
                    path.display(),
                    PATIENCE.as_secs()
                ))
                .remedy("start `closedbook sidecar inner --handoff` with the same path"));
            }
            Err(_) => thread::sleep(STEP),
        }
    }
}
