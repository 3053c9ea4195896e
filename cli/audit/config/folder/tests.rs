use std::fs;
use std::os::unix::fs::symlink;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::*;

/// G16: nothing in the folder leads out of it, and nothing that is no file is opened.
#[test]
fn nothing_leads_out() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let root = tempfile::tempdir().unwrap();
    let inside = |path: &str| root.path().join(path);
    fs::create_dir_all(inside("home/a")).unwrap();
    fs::write(inside("home/settings"), "here").unwrap();
    symlink(outside.path().join("secret"), inside("home/absolute")).unwrap();
    symlink("../../../../../../../../etc/passwd", inside("home/up")).unwrap();
    symlink("/home/settings", inside("home/link")).unwrap();
    symlink("loop", inside("home/loop")).unwrap();
    mkfifo(&inside("home/pipe"), Mode::S_IRWXU).unwrap();
    fs::write(inside("home/huge"), vec![b' '; 2 << 20]).unwrap();

    let folder = Folder::open(root.path()).unwrap();
    assert_eq!(folder.read("/home/settings"), Content::Bytes(b"here".to_vec()));
    assert_eq!(folder.read("/home/link"), Content::Bytes(b"here".to_vec()));
    assert_eq!(folder.read("/home/absolute"), Content::Absent);
    assert_eq!(folder.read("/home/up"), Content::Absent);
    assert_eq!(folder.read("/home/a"), Content::Absent);
    assert_eq!(folder.read("/home/settings/below"), Content::Absent);
    assert_eq!(folder.read("/nothing"), Content::Absent);
    for odd in ["/home/loop", "/home/pipe", "/home/huge", "/nul\0"] {
        assert!(matches!(folder.read(odd), Content::Unreadable(_)), "{odd}");
    }
    assert_eq!(folder.list("/home").len(), 8);
    assert!(folder.list("/nothing").is_empty());
    assert!(folder.take_faults().is_empty());
}
