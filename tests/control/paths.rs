//! `--control PATH`: where a socket may be.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::support::live::private_folder;
use crate::support::{Mode, modes};
use crate::{WAITS, live};

fn refused(path: &Path, complaint: &str, remedy: &str) {
    let mode = Mode::Rootless;
    let runtime = private_folder(mode);
    let mut run = live(mode, &runtime, "agent", &["--control", path.to_str().unwrap()], &WAITS);
    run.say("touch /started");
    let run = run.end();
    assert_eq!(run.code, 2, "{run:?}");
    run.must_complain(complaint).must_complain(remedy);
}

/// G10: a folder that is missing, or that others may write to, is no place for it.
#[test]
fn folders() {
    let folder = crate::support::open_folder();
    let path = folder.path().join("control");
    refused(&path, "can be written to by others", "chmod go-w");
    refused(&folder.path().join("missing/control"), "does not exist", "mkdir -m 700");
    refused(Path::new("/etc/passwd/control"), "is not a folder", "");
}

/// What is there already is left alone, unless it is a socket that nobody answers any more.
#[test]
fn what_is_in_the_way() {
    let mode = Mode::Rootless;
    let folder = private_folder(mode);
    let path = folder.path().join("control");
    fs::write(&path, "mine").unwrap();
    refused(&path, "something else than a socket", "a path that is free");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    fs::remove_file(&path).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    refused(&path, "somebody is listening there", "a path that is free");
    drop(listener);
    let runtime = private_folder(mode);
    let mut run = live(mode, &runtime, "agent", &["--control", path.to_str().unwrap()], &WAITS);
    assert_eq!(run.hear(), "ready");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    run.must(&["status", "--control", path.to_str().unwrap()]);
    run.end().must_succeed();
    assert!(!path.exists());
}

/// A socket may be named from the folder that one is in.
#[test]
fn relative() {
    for &mode in modes() {
        let folder = private_folder(mode);
        let path = folder.path().join("control");
        let runtime = private_folder(mode);
        let flags = ["--control", path.to_str().unwrap()];
        let mut run = live(mode, &runtime, "agent", &flags, &WAITS);
        assert_eq!(run.hear(), "ready");
        let mut command = crate::support::as_mode(mode, true);
        command.arg(crate::support::program()).args(["phase", "--control", "control"]);
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        run.end().must_succeed();
    }
}
