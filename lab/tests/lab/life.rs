use std::fs;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use closedbook_kernel::fork::fork_into;
use closedbook_lab::{Control, DEAD, DeadRoute, Lab, LabError, LabName, Place, World};
use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use tokio::net::TcpStream;

use crate::client::{PATIENCE, v4};
use crate::harness::{Guest, plan};

pub(crate) async fn dead_addresses_are_dead_each_in_its_way(_: Guest) {
    for dead in DEAD {
        let dial = TcpStream::connect((dead.address, 443));
        let outcome = tokio::time::timeout(Duration::from_millis(200), dial).await;
        match dead.route {
            DeadRoute::Unreachable => {
                assert_eq!(outcome.unwrap().unwrap_err().kind(), ErrorKind::HostUnreachable, "{dead:?}");
            }
            DeadRoute::Swallowed => assert!(outcome.is_err(), "{dead:?}: {outcome:?}"),
        }
    }
    for alive in ["1.1.1.1", "10.0.0.5", "169.254.169.254", "198.18.0.1", "2606:4700::1111", "fd00::5"] {
        let address: IpAddr = alive.parse().unwrap();
        TcpStream::connect((address, 443)).await.expect(alive);
    }
}

pub(crate) async fn what_a_command_sees_of_the_machine(_: Guest) {
    assert_eq!(
        fs::read_to_string("/etc/resolv.conf").unwrap(),
        "nameserver 192.0.2.53\nnameserver 2001:db8::53\n"
    );
    assert_eq!(
        fs::read_to_string("/proc/self/stat").unwrap().split(' ').next(),
        Some(&*std::process::id().to_string())
    );
    let interfaces = fs::read_to_string("/proc/net/dev").unwrap();
    assert_eq!(interfaces.lines().skip(2).count(), 1, "the loopback alone: {interfaces}");
    // By way of the C library.
    let found: Vec<_> =
        tokio::net::lookup_host(("pypi.org", 443)).await.unwrap().map(|one| one.ip()).collect();
    assert!(found.contains(&v4("pypi.org")), "{found:?}");
    // What acts on the whole kernel can't be written, root or not.
    assert!(fs::OpenOptions::new().write(true).open("/proc/sys/kernel/core_pattern").is_err());
}

pub(crate) fn a_lab_leaves_nothing_behind() {
    let lab = Lab::start(plan()).unwrap();
    let place = lab.place().clone();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(place.directory()), 0o700);
    assert_eq!(mode(&place.log()), 0o600);
    assert!(fs::read_to_string(place.ca()).unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    drop(lab);
    assert!(!place.directory().exists());
    // By order of somebody else.
    let lab = Lab::start(plan()).unwrap();
    let place = lab.place().clone();
    Control::connect(&place).unwrap().stop().unwrap();
    assert!(!place.directory().exists());
    lab.wait().unwrap();
}

pub(crate) fn a_name_is_taken_once() {
    let name = LabName::fresh();
    let lab = Lab::start(closedbook_lab::Plan { name: name.clone(), ..plan() }).unwrap();
    let again = Lab::start(closedbook_lab::Plan { name: name.clone(), ..plan() });
    assert!(matches!(again, Err(LabError::Running(_))), "{again:?}");
    assert_eq!(&Place::find(&name).unwrap().0, lab.place());
    // The attempt has not harmed the one that runs.
    let hosts = Control::connect(lab.place()).unwrap().ask("hosts").unwrap();
    assert_eq!(hosts.as_array().unwrap().len(), World::new().hosts().len());
    drop(lab);
    assert!(matches!(Place::find(&name), Err(LabError::Absent(_))));
    for wrong in ["", ".", "a/b", "..", "a b", &"x".repeat(41)] {
        assert!(LabName::parse(wrong).is_err(), "{wrong}");
    }
}

pub(crate) fn a_lab_ends_with_its_parent_however_that_ends() {
    let name = LabName::fresh();
    let (mut theirs, mut ours) = std::os::unix::net::UnixStream::pair().unwrap();
    let parent = fork_into(CloneFlags::empty(), || {
        let _lab = Lab::start(closedbook_lab::Plan { name: name.clone(), ..plan() }).unwrap();
        std::io::Write::write_all(&mut theirs, b"x").unwrap();
        loop {
            std::thread::park();
        }
    })
    .unwrap();
    std::io::Read::read_exact(&mut ours, &mut [0]).unwrap();
    let (place, first) = Place::find(&name).unwrap();
    // A conversation ends when the lab's process has gone.
    let mut control = Control::connect(&place).unwrap();
    control.ask("lost").unwrap();
    parent.signal(Signal::SIGKILL).unwrap();
    parent.wait().unwrap();
    control.until_gone();
    assert!(!place.directory().exists());
    // Its parent is gone, so whoever adopted it reaps it, in its own time.
    let is_ended = |state: String| state.is_empty() || state.contains(") Z ") || state.contains(") X ");
    let deadline = Instant::now() + PATIENCE;
    while !is_ended(fs::read_to_string(format!("/proc/{first}/stat")).unwrap_or_default()) {
        assert!(Instant::now() < deadline, "the lab's first process is still there");
        std::thread::yield_now();
    }
}

pub(crate) fn what_dead_labs_left_is_swept_away() {
    let lab = Lab::start(plan()).unwrap();
    let base = lab.place().directory().parent().unwrap().to_owned();
    let dead = base.join(format!("lab-{}", LabName::fresh()));
    fs::create_dir(&dead).unwrap();
    fs::write(dead.join("owner"), "1\n").unwrap();
    let fresh = Lab::start(plan()).unwrap();
    assert!(!dead.exists(), "its owner holds no lock");
    assert!(lab.place().directory().exists(), "this one's does");
    assert!(fresh.place().directory().exists());
}

/// The issue's own bound, and no more than that: this is no benchmark.
pub(crate) fn a_lab_is_up_within_two_seconds() {
    let start = Instant::now();
    let lab = Lab::start(plan()).unwrap();
    assert!(start.elapsed() < Duration::from_secs(2));
    drop(lab);
}
