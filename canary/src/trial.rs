//! A probe at work: what it is given, and the tries that it makes.

mod signals;

use std::fmt;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::engine::Event;
use crate::nonce::Nonce;
use crate::probe::{Level, Probe};
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::targets::{Permitted, Targets};

pub(crate) use signals::Signals;

/// What a probe is given, and where its tries are noted.
#[derive(Debug)]
pub struct Trial<'a> {
    probe: &'static Probe,
    level: Level,
    targets: &'a Targets,
    around: &'a Surroundings,
    signals: Signals,
    tries: Vec<Try>,
}

/// One try: a technique in one of its variants, against one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Try {
    /// The variant, in words that are the same in every run: the baseline is found by them.
    pub what: String,
    /// What was aimed at.
    pub to: String,
    /// What must become of it.
    pub want: Want,
    /// Its mark.
    pub nonce: Nonce,
    /// What was seen.
    pub seen: Seen,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The address that was aimed at, where one was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub aimed: Option<IpAddr>,
    /// Whether nobody lives there.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub nowhere: bool,
    /// Another try of this probe that has to succeed if this one's failure is to mean anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub beside: Option<String>,
    /// Whether whatever arrives at the address is this try's, nonce or not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub quiet: bool,
    /// Whether it is a way out only if it is answered: nobody listens there who could use what merely arrives.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub two_way: bool,
    /// A public name that exists, and that it asked a resolver for: who denies it has not looked it up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exists: Option<String>,
}

/// What must become of a try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Want {
    /// The permitted host answers, at the application layer.
    Reached {
        /// The host.
        name: String,
    },
    /// It gets nowhere.
    Stopped,
    /// It gets nowhere, or to the permitted host at that host's own address; never where it was aimed.
    Rewritten {
        /// The host.
        name: String,
    },
    /// What is looked for is not there.
    Absent,
    /// It may be answered, but what the try put into it gets nowhere: only the witness can tell.
    Unheard,
}

/// A try that is about to be made.
pub struct Attempt<'s> {
    what: String,
    to: String,
    want: Want,
    aimed: Option<IpAddr>,
    nowhere: bool,
    beside: Option<String>,
    quiet: bool,
    two_way: bool,
    exists: Option<String>,
    how: Box<dyn FnOnce(&Nonce) -> Lasting + Send + 's>,
}

/// What came of a try that took some time by intent: its own time says nothing of how long anybody was kept waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasting {
    /// What was seen.
    pub seen: Seen,
    /// How long the slowest answer took; `None` if the try's whole time is what counts.
    pub slowest: Option<Duration>,
}

impl From<Seen> for Lasting {
    fn from(seen: Seen) -> Self {
        Self { seen, slowest: None }
    }
}

impl<'s> Attempt<'s> {
    /// A try in the variant `what`, aimed at `to`. `how` makes it and says what it saw.
    pub fn new(
        what: impl Into<String>,
        to: impl fmt::Display,
        want: Want,
        how: impl FnOnce(&Nonce) -> Seen + Send + 's,
    ) -> Self {
        Self::lasting(what, to, want, |nonce| how(nonce).into())
    }

    /// The same for a try that goes on for a while, or that is many in one: `how` says too how long the slowest answer took.
    pub fn lasting(
        what: impl Into<String>,
        to: impl fmt::Display,
        want: Want,
        how: impl FnOnce(&Nonce) -> Lasting + Send + 's,
    ) -> Self {
        let to = to.to_string();
        let aimed = address_in(&to);
        Self {
            what: what.into(),
            to,
            want,
            aimed,
            nowhere: false,
            beside: None,
            quiet: false,
            two_way: false,
            exists: None,
            how: Box::new(how),
        }
    }

    /// Nobody lives at the target: whoever answers is in between.
    pub fn nowhere(mut self, nowhere: bool) -> Self {
        self.nowhere = nowhere;
        self
    }

    /// The address that is aimed at, where `to` does not say it.
    pub fn aimed(mut self, ip: IpAddr) -> Self {
        self.aimed = Some(ip);
        self
    }

    /// The try `what` of this probe has to succeed if this one's failure is to mean anything.
    pub fn beside(mut self, what: impl Into<String>) -> Self {
        self.beside = Some(what.into());
        self
    }

    /// Whatever arrives at the address is this try's.
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// Only an answer would be a way out: a public site, where nobody waits for what merely arrives.
    pub fn two_way(mut self) -> Self {
        self.two_way = true;
        self
    }

    /// It asks a resolver for this name, which exists: who denies it has not looked it up.
    pub fn exists(mut self, name: impl Into<String>) -> Self {
        self.exists = Some(name.into());
        self
    }

    fn make(self) -> Try {
        let Self { what, to, want, aimed, nowhere, beside, quiet, two_way, exists, how } = self;
        let started = Instant::now();
        let nonce = Nonce::fresh();
        let Lasting { seen, slowest } = match &nonce {
            Some(nonce) => how(nonce),
            None => Seen::failed("the system has no random numbers").into(),
        };
        let took = slowest.unwrap_or_else(|| started.elapsed());
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let nonce = nonce.unwrap_or_else(Nonce::none);
        Try { what, to, want, nonce, seen, ms, aimed, nowhere, beside, quiet, two_way, exists }
    }
}

impl<'a> Trial<'a> {
    pub(crate) fn new(
        probe: &'static Probe,
        level: Level,
        targets: &'a Targets,
        around: &'a Surroundings,
        signals: Signals,
    ) -> Self {
        Self { probe, level, targets, around, signals, tries: Vec::new() }
    }

    /// As whom.
    pub fn level(&self) -> Level {
        self.level
    }

    /// What can be aimed at. The reference outlives the trial, so that attempts may hold it.
    pub fn targets(&self) -> &'a Targets {
        self.targets
    }

    /// What the container offers.
    pub fn around(&self) -> &'a Surroundings {
        self.around
    }

    /// A host that is permitted on port 443. [`Need::PermittedTls`](crate::Need) promises it.
    pub fn https(&self) -> Option<&'a Permitted> {
        self.targets.https()
    }

    /// A host that is permitted on port 80.
    pub fn http(&self) -> Option<&'a Permitted> {
        self.targets.http()
    }

    /// Makes one try.
    pub fn attempt(&mut self, attempt: Attempt<'_>) -> &Seen {
        let made = attempt.make();
        let position = self.tries.len();
        self.tries.push(made);
        // Just put there.
        self.tries.get(position).map_or(&Seen::NotFound, |made| &made.seen)
    }

    /// Makes several at once. Only for those that don't disturb each other.
    pub fn attempt_all(&mut self, attempts: Vec<Attempt<'_>>) {
        /// At a time: each is a thread.
        const AT_ONCE: usize = 8;
        let mut waiting = attempts.into_iter();
        loop {
            let some: Vec<Attempt<'_>> = waiting.by_ref().take(AT_ONCE).collect();
            if some.is_empty() {
                return;
            }
            let made = std::thread::scope(|scope| {
                let threads: Vec<_> =
                    some.into_iter().map(|attempt| scope.spawn(|| attempt.make())).collect();
                threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
            });
            for made in made {
                match made {
                    Ok(made) => self.tries.push(made),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        }
    }

    /// Waits until an event has happened; false if it never will. A probe of [`Moment::Switch`](crate::Moment) waits for
    /// [`Event::Switched`], with its connections open; one of [`Moment::Crash`](crate::Moment) for [`Event::Killed`].
    pub fn until(&self, event: Event) -> bool {
        self.signals.until(event)
    }

    /// Whether an event has happened.
    pub fn has_happened(&self, event: Event) -> bool {
        self.signals.has(event)
    }

    /// Says that this probe has done what comes before the event, and goes on at work: for probes that work while it happens.
    pub fn ready(&self) {
        self.signals.ready();
    }

    /// What has happened, for a thread beside the probe's own.
    pub(crate) fn signals(&self) -> Signals {
        self.signals.clone()
    }

    /// Waits: some probes are about time.
    pub fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    pub(crate) fn into_tries(self) -> Vec<Try> {
        self.tries
    }

    /// The probe.
    pub fn probe(&self) -> &'static Probe {
        self.probe
    }
}

impl Want {
    /// The permitted host answers.
    pub fn reached(name: impl Into<String>) -> Self {
        Want::Reached { name: name.into() }
    }

    /// Nowhere, or to this host.
    pub fn rewritten(name: impl Into<String>) -> Self {
        Want::Rewritten { name: name.into() }
    }
}

/// `192.0.2.1:443`, `[2001:db8::1]:443`, `192.0.2.1`.
fn address_in(to: &str) -> Option<IpAddr> {
    to.parse::<std::net::SocketAddr>().map(|address| address.ip()).or_else(|_| to.parse()).ok()
}

impl fmt::Debug for Attempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attempt({} -> {})", self.what, self.to)
    }
}
