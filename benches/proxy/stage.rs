//! One lab; in it the server, a client beside it, a client sealed off from it, and the jobs for both in turns.

use std::env;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit};

use crate::Result;
use crate::figures::{Figures, Unit, Way, quantile, sorted};
use crate::job::{Carrier, Direction, Job, Outcome, Refusal};
use crate::player::Player;
use crate::process::{Process, Spent};
use crate::targets::{ALLOWED, HTTP, IDLE, TCP, TLS};

/// No new round is begun after this; one takes a few seconds.
const ENOUGH: Duration = Duration::from_secs(55);
/// What each bulk job moves in all.
const BULK: u64 = 256 * 1024 * 1024;
/// Connections of the job that opens many at once.
const MANY: usize = 1500;
/// Idle connections whose memory is measured, and with how many the proxy is watched at rest. A machine that gives a
/// process few descriptors has fewer.
const IDLE_CONNECTIONS: usize = 1000;
const MANY_CONNECTIONS: usize = 10_000;
/// Connections beside those that never finish their hello.
const SLOW_CONNECTIONS: usize = 1000;
/// How long the proxy is watched at rest: well within the time that a hello may take.
const WATCHED: Duration = Duration::from_secs(2);
/// Pause between the end of the load and the look at the memory it left.
const REST: Duration = Duration::from_millis(300);

const THROUGHPUT: &str = "throughput";
const PROCESSOR: &str = "processor time of the proxy";
const RATES: &str = "rates";
const LATENCY: &str = "latency";
const REFUSALS: &str = "time until a refusal is known";
const MEMORY: &str = "memory of the proxy";

/// The program that is measured.
pub(crate) const CLOSEDBOOK: &str = env!("CARGO_BIN_EXE_closedbook");

/// Plays it all; how many rounds there were.
pub(crate) fn measure(most: usize, figures: &mut Figures) -> Result<usize> {
    let began = Instant::now();
    let mut stage = Stage::set()?;
    let mut rounds = 0;
    // What the first connections pay (resolving, growing) is part of nobody's round.
    stage.play(Job::Connect { parallel: 64, count: 200 }, false)?;
    stage.spent.clear();
    while rounds < most && began.elapsed() < ENOUGH {
        for job in jobs() {
            // Whoever is second finds warmer caches, so they take turns in that too.
            for (way, outcome) in stage.play(job, rounds % 2 == 1)? {
                note(figures, way, job, &outcome);
            }
        }
        for (kind, what) in REFUSED {
            let count = if kind == Refusal::SilentPort { 5 } else { 40 };
            let outcome = stage.sealed.play(Job::Refusals { kind, count })?;
            let median = quantile(&sorted(outcome.each), 0.5).ok_or("nothing was refused")?;
            figures.add(Way::Proxied, REFUSALS, what, Unit::Milliseconds, median / 1e3);
        }
        rounds += 1;
    }
    stage.processor(figures, rounds);
    stage.memory(figures)?;
    stage.at_rest(figures)?;
    Ok(rounds)
}

/// The work of one round.
fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for carrier in [Carrier::Tls, Carrier::Tcp, Carrier::Http] {
        for direction in [Direction::Down, Direction::Up] {
            for connections in [1, 4] {
                let bytes = BULK / connections as u64;
                jobs.push(Job::Bulk { carrier, direction, connections, bytes });
            }
        }
    }
    jobs.extend([
        Job::Connect { parallel: 1, count: 300 },
        Job::Connect { parallel: 64, count: MANY },
        Job::Requests { carrier: Carrier::Tls, count: 1000 },
        Job::Requests { carrier: Carrier::Http, count: 1000 },
        Job::Questions { in_flight: 1, count: 1000 },
        Job::Questions { in_flight: 32, count: 5000 },
    ]);
    jobs
}

const REFUSED: [(Refusal, &str); 6] = [
    (Refusal::TlsName, "another name in TLS: alert"),
    (Refusal::HttpHost, "another Host in HTTP: 403"),
    (Refusal::TlsPort, "TLS to another port: alert"),
    (Refusal::SilentPort, "silence to another port: reset"),
    (Refusal::DnsName, "another name in DNS: NXDOMAIN"),
    (Refusal::Udp, "a datagram: error of the socket"),
];

/// Those who play. Dropped in this order: the lab goes with the sealed one.
struct Stage {
    direct: Player,
    _server: Player,
    sealed: Player,
    proxy: Process,
    spent: Vec<(Load, Spent)>,
}

/// What the proxy's processor time is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Bulk(Carrier, Direction),
    Connections,
}

impl Stage {
    fn set() -> Result<Self> {
        let this = env::current_exe()?;
        let this = this.to_str().ok_or("the path of this program is not UTF-8")?;
        let web = format!("{ALLOWED}:{HTTP},{TLS},{IDLE}");
        let tcp = format!("tcp://{ALLOWED}:{TCP}");
        let mut sealed = Player::start(&[
            "run", "--quiet", "--lab", "--allow", &web, "--allow", &tcp, "--", this, "client",
        ])?;
        let name = sealed.line()?;
        let beside = |role| Player::start(&["lab", "exec", "--name", name.trim_end(), "--", this, role]);
        let mut server = beside("server")?;
        server.line()?;
        let mut direct = beside("client")?;
        direct.line()?;
        let proxy = Process::proxy_of(sealed.pid())?;
        Ok(Self { direct, _server: server, sealed, proxy, spent: Vec::new() })
    }

    /// Has both do it.
    fn play(&mut self, job: Job, sealed_first: bool) -> Result<[(Way, Outcome); 2]> {
        if sealed_first {
            let sealed = self.play_sealed(job)?;
            Ok([(Way::Proxied, sealed), (Way::Direct, self.direct.play(job)?)])
        } else {
            let direct = self.direct.play(job)?;
            Ok([(Way::Direct, direct), (Way::Proxied, self.play_sealed(job)?)])
        }
    }

    fn play_sealed(&mut self, job: Job) -> Result<Outcome> {
        let before = self.proxy.spent()?;
        let outcome = self.sealed.play(job)?;
        let load = match job {
            Job::Bulk { carrier, direction, .. } => Some(Load::Bulk(carrier, direction)),
            Job::Connect { parallel, .. } if parallel > 1 => Some(Load::Connections),
            _ => None,
        };
        if let Some(load) = load {
            self.spent.push((load, self.proxy.spent()?.since(before)));
        }
        Ok(outcome)
    }

    /// Over all rounds: one job is too short for the clock of /proc.
    fn processor(&self, figures: &mut Figures, rounds: usize) {
        // Each carrier and direction was played with 1 and with 4 connections.
        let gigabytes = 2.0 * BULK as f64 * rounds as f64 / 1e9;
        let connections = (MANY * rounds) as f64;
        let bulk = [Carrier::Tls, Carrier::Tcp, Carrier::Http]
            .into_iter()
            .flat_map(|carrier| [Direction::Down, Direction::Up].map(|way| Load::Bulk(carrier, way)));
        for load in bulk.chain([Load::Connections]) {
            let (what, unit, per_second) = match load {
                Load::Bulk(carrier, direction) => {
                    let what = format!("{} {}", carrier.word(), direction.word());
                    (what, Unit::MillisecondsPerGigabyte, 1e3 / gigabytes)
                }
                Load::Connections => ("a connection".to_owned(), Unit::Microseconds, 1e6 / connections),
            };
            let of = |part: fn(&Spent) -> f64| -> f64 {
                self.spent.iter().filter(|(other, _)| *other == load).map(|(_, spent)| part(spent)).sum()
            };
            for (kind, seconds) in [("user", of(|spent| spent.user)), ("system", of(|spent| spent.system))] {
                figures.add(Way::Proxied, PROCESSOR, &format!("{what}, {kind}"), unit, seconds * per_second);
            }
        }
    }

    /// With many idle connections and as many slow ones as nobody has.
    fn at_rest(&mut self, figures: &mut Figures) -> Result<()> {
        let before = self.proxy.resident()?;
        // Each idle one takes two descriptors of the proxy, and a fifth of all is for those that are not decided.
        let most = usize::try_from(getrlimit(Resource::RLIMIT_NOFILE)?.1).unwrap_or(usize::MAX) / 3;
        let idle = MANY_CONNECTIONS.min(most).saturating_sub(IDLE_CONNECTIONS);
        self.sealed.play(Job::Hold { count: idle })?;
        self.sealed.play(Job::Dawdle { count: SLOW_CONNECTIONS })?;
        let (memory, spent, began) = (self.proxy.resident()?, self.proxy.spent()?, Instant::now());
        std::thread::sleep(WATCHED);
        let spent = self.proxy.spent()?.since(spent);
        let share = (spent.user + spent.system) * 1e3 / began.elapsed().as_secs_f64();
        let connections = (idle + SLOW_CONNECTIONS) as f64;
        let what = format!("{} idle connections and {SLOW_CONNECTIONS} slow hellos", idle + IDLE_CONNECTIONS);
        let each = format!("more for each, with {what}");
        figures.add(Way::Proxied, MEMORY, &each, Unit::Kibibytes, (memory - before) / connections);
        figures.add(Way::Proxied, PROCESSOR, &format!("at rest, {what}"), Unit::MillisecondsPerSecond, share);
        Ok(())
    }

    fn memory(&mut self, figures: &mut Figures) -> Result<()> {
        std::thread::sleep(REST);
        let before = self.proxy.resident()?;
        self.sealed.play(Job::Hold { count: IDLE_CONNECTIONS })?;
        std::thread::sleep(REST);
        let each = (self.proxy.resident()? - before) / IDLE_CONNECTIONS as f64;
        figures.add(Way::Proxied, MEMORY, "resident after all of the above", Unit::Kibibytes, before);
        figures.add(Way::Proxied, MEMORY, "more for each of 1000 idle connections", Unit::Kibibytes, each);
        Ok(())
    }
}

/// The figures that come out of a job.
fn note(figures: &mut Figures, way: Way, job: Job, outcome: &Outcome) {
    let rate = |count: f64| count / outcome.seconds.max(1e-9);
    let each = sorted(outcome.each.clone());
    let count = each.len() as f64;
    let mut percentiles = |what: &str| {
        for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            if let Some(value) = quantile(&each, share) {
                figures.add(way, LATENCY, &format!("{what}, {name}"), Unit::Microseconds, value);
            }
        }
    };
    match job {
        Job::Bulk { carrier, direction, connections, .. } => {
            let what = format!("{} {}, {connections} conn", carrier.word(), direction.word());
            figures.add(way, THROUGHPUT, &what, Unit::Megabytes, rate(BULK as f64) / 1e6);
        }
        Job::Connect { parallel, .. } => {
            if parallel == 1 {
                percentiles("connect, hello, first byte");
            }
            let what = format!("connections, {parallel} at once");
            figures.add(way, RATES, &what, Unit::PerSecond, rate(count));
        }
        Job::Requests { carrier, .. } => {
            percentiles(&format!("request on a kept {} connection", carrier.word()));
        }
        Job::Questions { in_flight, .. } => {
            let what = format!("DNS questions, {in_flight} at once");
            figures.add(way, RATES, &what, Unit::PerSecond, rate(count));
        }
        Job::Refusals { .. } | Job::Hold { .. } | Job::Dawdle { .. } => {}
    }
}
