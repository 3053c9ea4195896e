//! Flags that say what to aim at: shared by `plan` and `run`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use closedbook_agents::{Ask, AuthMode, Judge, Table};
use closedbook_policy::Policy;

use super::{Stop, chain};
use crate::aim::{self, Circumstances};
use crate::engine::job::{DOCKER_DEFAULT, Job, Privilege};
use crate::nonce::Nonce;
use crate::probe::Level;
use crate::report::evidence::Subject;
use crate::targets::Witness;

/// More than any policy or certificate has.
const MOST: u64 = 4 << 20;

/// What to aim at.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct AimFlags {
    /// The policy document (TOML or JSON) that is in force.
    #[arg(long, value_name = "FILE", conflicts_with = "agent_name")]
    policy: Option<PathBuf>,

    /// The agent whose policy is in force, by the agent table.
    #[arg(long = "agent", id = "agent_name", value_name = "NAME")]
    agent: Option<String>,

    /// Whose models the agent calls.
    #[arg(long, value_name = "NAME", requires = "agent_name")]
    provider: Option<String>,

    /// How the agent logs in.
    #[arg(long, value_enum, requires = "agent_name")]
    auth: Option<Auth>,

    /// A phase to try; given several times, they are tried in this order, each after the switch to it [default: agent].
    #[arg(long, value_name = "NAME")]
    phase: Vec<String>,

    /// A name of your witness: a server of yours that no phase permits.
    #[arg(long, value_name = "NAME")]
    witness: Option<String>,

    /// Its IPv4 address.
    #[arg(long, value_name = "ADDRESS", requires = "witness")]
    witness_v4: Option<Ipv4Addr>,

    /// Its IPv6 address.
    #[arg(long, value_name = "ADDRESS", requires = "witness")]
    witness_v6: Option<Ipv6Addr>,

    /// Another address of it, at which nobody else aims.
    #[arg(long, value_name = "ADDRESS", requires = "witness")]
    witness_quiet: Option<Ipv4Addr>,

    /// A zone whose name server it is.
    #[arg(long, value_name = "ZONE", requires = "witness")]
    witness_zone: Option<String>,

    /// A resolver that would ask it, if it could be reached.
    #[arg(long, value_name = "ADDRESS", requires = "witness")]
    witness_resolver: Option<IpAddr>,

    /// The permitted hosts are the witness's too, and prove their answers: as in a lab.
    #[arg(long, requires = "witness")]
    own_hosts: bool,

    /// Certificates to trust beside the usual ones (PEM).
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,

    /// The agent's user, as UID or UID:GID.
    #[arg(long, value_name = "UID[:GID]", default_value = "1000", value_parser = user)]
    user: (u32, u32),

    /// What root keeps, where the canary is root: `docker` what Docker leaves by default, `all` everything there is.
    #[arg(long, value_enum, default_value_t = RootCaps::All)]
    root_caps: RootCaps,

    /// Only the agent's user, even where the canary is root.
    #[arg(long)]
    agent_only: bool,

    /// Only probes whose id starts with this. Such a run is never a pass.
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
}

/// How an agent logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Auth {
    /// With a key of the provider's API.
    Api,
    /// With the login of a subscription.
    Subscription,
}

/// What root keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum RootCaps {
    /// Docker's default capabilities.
    Docker,
    /// All that are there.
    #[default]
    All,
}

impl AimFlags {
    /// The job.
    pub(super) fn job(&self) -> Result<Job, Stop> {
        let (policy, mut subject, mut facts) = match (&self.policy, &self.agent) {
            (Some(path), _) => (policy(path)?, Subject::default(), Vec::new()),
            (None, Some(agent)) => self.of_agent(agent)?,
            (None, None) => {
                return Err(Stop::usage(
                    "nothing says which policy is in force",
                    "--policy FILE, or --agent NAME",
                ));
            }
        };
        subject.canary = env!("CARGO_PKG_VERSION").to_owned();
        let phases = if self.phase.is_empty() { vec!["agent".to_owned()] } else { self.phase.clone() };
        let run = Nonce::fresh().ok_or_else(|| Stop::inconclusive("the system has no random numbers"))?;
        let with = Circumstances {
            run: run.as_str().to_owned(),
            subject,
            witness: self.witness(),
            own_hosts: self.own_hosts,
            trust: self.trust.as_deref().map(text).transpose()?,
            levels: self.levels(),
            kills: false,
            only: self.only.clone(),
        };
        let mut job = aim::job(&policy, &phases, with)
            .map_err(|error| Stop::usage(error.to_string(), "--phase NAME"))?;
        job.facts.append(&mut facts);
        Ok(job)
    }

    fn of_agent(&self, agent: &str) -> Result<(Policy, Subject, Vec<crate::report::Fact>), Stop> {
        let table = Table::embedded()
            .map_err(|fault| Stop::inconclusive(format!("the built-in agent table: {fault}")))?;
        let auth = self.auth.map(|auth| match auth {
            Auth::Api => AuthMode::Api,
            Auth::Subscription => AuthMode::Subscription,
        });
        let ask = Ask { agent, provider: self.provider.as_deref(), auth, version: None };
        let choice = table.choose(&ask).map_err(|refused| {
            Stop::usage(refused.to_string(), "closedbook agents list says what can be run")
        })?;
        let made =
            choice.policy(Judge::Usual).map_err(|refused| Stop::usage(refused.to_string(), "--policy"))?;
        let policy =
            made.map_err(|fault| Stop::inconclusive(format!("the policy of {agent}: {}", chain(&fault))))?;
        let subject = Subject {
            table: Some(table.version()),
            agent: Some(agent.to_owned()),
            provider: Some(choice.provider().name.clone()),
            auth: Some(choice.auth().to_string()),
            ..Subject::default()
        };
        Ok((policy, subject, aim::provider_facts(&choice)))
    }

    fn witness(&self) -> Option<Witness> {
        Some(Witness {
            name: self.witness.clone()?,
            v4: self.witness_v4,
            v6: self.witness_v6,
            quiet: self.witness_quiet,
            zone: self.witness_zone.clone(),
            resolver: self.witness_resolver,
        })
    }

    fn levels(&self) -> BTreeMap<Level, Privilege> {
        let (uid, gid) = self.user;
        let mut levels = BTreeMap::from([(Level::Agent, Privilege { uid, gid, keep: None })]);
        if nix::unistd::geteuid().is_root() && !self.agent_only {
            let keep = match self.root_caps {
                RootCaps::Docker => Some(DOCKER_DEFAULT.map(str::to_owned).to_vec()),
                RootCaps::All => None,
            };
            levels.insert(Level::Root, Privilege { uid: 0, gid: 0, keep });
        }
        levels
    }
}

fn user(text: &str) -> Result<(u32, u32), String> {
    let number = |part: &str| part.parse::<u32>().map_err(|_| format!("{part:?} is not a number"));
    match text.split_once(':') {
        Some((uid, gid)) => Ok((number(uid)?, number(gid)?)),
        None => number(text).map(|uid| (uid, uid)),
    }
}

fn policy(path: &Path) -> Result<Policy, Stop> {
    Policy::from_text(&text(path)?).map_err(|invalid| {
        let faults: Vec<String> = invalid.faults().map(ToString::to_string).collect();
        let shown = path.display();
        Stop::usage(format!("the policy {shown}: {}", faults.join("; ")), "closedbook policy check says more")
    })
}

fn text(path: &Path) -> Result<String, Stop> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MOST).read_to_string(&mut text));
    let shown = path.display();
    read.map_err(|error| {
        Stop::usage(format!("can't read {shown}: {error}"), "name a file that can be read")
    })?;
    Ok(text)
}
