//! Runs tests one by one, each in processes of its own.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Command, ExitCode};

use closedbook_kernel::fork::fork_into;
use closedbook_lab::{Arrival, Control, Fault, Lab, LabName, Place, Plan, World};
use closedbook_policy::Name;
use nix::sched::CloneFlags;
use nix::sys::wait::WaitStatus;
use nix::unistd::geteuid;

use crate::client::timed;

/// Marks a start of this program inside a lab.
const IN_A_LAB: &str = "--in-a-lab";

/// A test by name.
pub(crate) struct Test {
    pub(crate) name: &'static str,
    pub(crate) body: Body,
}

pub(crate) enum Body {
    /// Runs in a lab.
    Inside(fn(Guest) -> Pin<Box<dyn Future<Output = ()>>>),
    /// Runs in the network of a lab with every capability over it, and with the machine's own files.
    Capable(fn(Guest) -> Pin<Box<dyn Future<Output = ()>>>),
    /// Runs where it can start labs.
    Outside(fn()),
}

/// What a test in a lab knows.
pub(crate) struct Guest {
    place: Place,
}

macro_rules! inside {
    ($module:ident :: $name:ident) => {
        $crate::harness::Test {
            name: concat!(stringify!($module), "::", stringify!($name)),
            body: $crate::harness::Body::Inside(|guest| Box::pin($crate::$module::$name(guest))),
        }
    };
}

macro_rules! capable {
    ($module:ident :: $name:ident) => {
        $crate::harness::Test {
            name: concat!(stringify!($module), "::", stringify!($name)),
            body: $crate::harness::Body::Capable(|guest| Box::pin($crate::$module::$name(guest))),
        }
    };
}

macro_rules! outside {
    ($module:ident :: $name:ident) => {
        $crate::harness::Test {
            name: concat!(stringify!($module), "::", stringify!($name)),
            body: $crate::harness::Body::Outside($crate::$module::$name),
        }
    };
}

pub(crate) use {capable, inside, outside};

impl Guest {
    /// The lab's control socket.
    pub(crate) fn control(&self) -> Control {
        Control::connect(&self.place).unwrap()
    }

    /// The lab's certificate.
    pub(crate) fn ca(&self) -> PathBuf {
        self.place.ca()
    }

    /// Switches a fault on, or off.
    pub(crate) fn fault(&self, host: &str, kind: &str) {
        self.control().ask(&format!("fault {host} {kind}")).unwrap();
    }

    /// Waits for an arrival that nothing was answered to: what a connection brings is written down when it is read.
    pub(crate) async fn awaited(&self, wanted: impl Fn(&Arrival) -> bool) -> Arrival {
        timed(async {
            loop {
                match self.control().arrivals().unwrap().into_iter().find(&wanted) {
                    Some(arrival) => break arrival,
                    None => tokio::task::yield_now().await,
                }
            }
        })
        .await
    }

    /// All that arrived with this nonce.
    pub(crate) fn arrivals(&self, nonce: &str) -> Vec<Arrival> {
        self.control().arrivals().unwrap().into_iter().filter(|one| one.carries(nonce)).collect()
    }
}

/// Runs the tests that the arguments ask for.
pub(crate) fn run(tests: &[Test]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [IN_A_LAB, name, wanted] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        finish(tests, name, wanted);
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_wanted =
        |test: &&Test| words.is_empty() || words.iter().any(|word| test.name.contains(word.as_str()));
    let wanted: Vec<&Test> = tests.iter().filter(is_wanted).collect();
    if std::env::args().any(|word| word == "--list") {
        wanted.iter().for_each(|test| println!("{}: test", test.name));
        return ExitCode::SUCCESS;
    }
    let mode = if geteuid().is_root() { "root" } else { "an ordinary user" };
    println!("\nrunning {} tests, each in namespaces made as {mode} (uid {})", wanted.len(), geteuid());
    let failed: Vec<&str> = wanted.iter().filter(|test| !passes(test)).map(|test| test.name).collect();
    println!("\ntest result: {} passed; {} failed\n", wanted.len() - failed.len(), failed.len());
    failed.iter().for_each(|name| println!("    {name}"));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn passes(test: &Test) -> bool {
    let outcome = match test.body {
        Body::Inside(_) => in_a_lab(test.name),
        Body::Capable(body) => in_a_network(body),
        Body::Outside(body) => in_a_process(body),
    };
    println!("test {} ... {}", test.name, outcome.as_ref().map_or_else(String::as_str, |()| "ok"));
    outcome.is_ok()
}

/// A plan for a lab that no other test has.
pub(crate) fn plan() -> Plan {
    Plan { name: LabName::fresh(), world: World::new(), faults: Vec::<(Name, Fault)>::new() }
}

/// A lab, and a process that enters it and there starts this program anew: what enters a pid namespace is not in it,
/// but its children are.
fn in_a_lab(test: &'static str) -> Result<(), String> {
    let plan = plan();
    let name = plan.name.to_string();
    let lab = Lab::start(plan).map_err(|error| format!("no lab: {error:?}"))?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    in_a_process(|| {
        lab.room().enter().unwrap();
        let status = Command::new(program).args([IN_A_LAB, &name, test]).status().unwrap();
        assert!(status.success());
    })
}

/// A lab, and a process that enters its network. Not started anew, it keeps the capabilities that come with the user
/// namespace, whoever runs it.
fn in_a_network(body: fn(Guest) -> Pin<Box<dyn Future<Output = ()>>>) -> Result<(), String> {
    let lab = Lab::start(plan()).map_err(|error| format!("no lab: {error:?}"))?;
    in_a_process(|| {
        lab.room().enter_network().unwrap();
        run_body(body, lab.place().clone());
    })
}

fn run_body(body: fn(Guest) -> Pin<Box<dyn Future<Output = ()>>>, place: Place) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(body(Guest { place }));
}

/// The other end of [`in_a_lab`].
fn finish(tests: &[Test], name: &str, wanted: &str) {
    let (place, _) = Place::find(&LabName::parse(name).unwrap()).unwrap();
    let test = tests.iter().find(|test| test.name == wanted).unwrap();
    let Body::Inside(body) = test.body else { panic!("{wanted} is for the outside") };
    run_body(body, place);
}

/// Runs it in a copy of this process. The copy never returns into the harness.
fn in_a_process(body: impl FnOnce()) -> Result<(), String> {
    let child = fork_into(CloneFlags::empty(), || match catch_unwind(AssertUnwindSafe(body)) {
        Ok(()) => 0,
        Err(_) => 101,
    });
    match child.map_err(|error| error.to_string())?.wait() {
        Ok(WaitStatus::Exited(_, 0)) => Ok(()),
        other => Err(format!("FAILED ({other:?})")),
    }
}
