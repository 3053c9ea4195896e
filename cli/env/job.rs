//! From flags to what the canary is to do.

use std::collections::BTreeMap;

use closedbook_agents::{Ask, AuthMode, Judge};
use closedbook_canary::Level;
use closedbook_canary::aim::{self, Circumstances};
use closedbook_canary::engine::job::{DOCKER_DEFAULT, Job, Privilege};
use closedbook_canary::report::evidence::Subject;
use closedbook_canary::targets::Witness;
use closedbook_lab::Fault;
use closedbook_policy::{Name, Policy};
use nix::unistd::{getgid, getuid};

use super::Check;
use crate::exit::{Failure, chain};
use crate::flags;
use crate::flags::agent::Auth;

/// The phases of a trial, in their order.
pub(super) const PHASES: [&str; 2] = ["setup", "agent"];
/// The user that agents run as, in most images.
const AGENT: u32 = 1000;

/// What is wanted of the canary.
pub(super) struct Wanted {
    pub(super) agent: String,
    pub(super) provider: String,
    pub(super) auth: AuthMode,
    pub(super) policy: Policy,
    /// The hosts of the agent phase.
    pub(super) hosts: Vec<String>,
    /// The hosts that the setup phase has besides.
    pub(super) setup: Vec<String>,
    pub(super) faults: Vec<(Name, Fault)>,
    subject: Subject,
    facts: Vec<closedbook_canary::report::Fact>,
}

impl Wanted {
    /// From the flags. G15: what the table does not name is refused.
    pub(super) fn of(check: &Check) -> Result<Self, Failure> {
        let table = check.table.load()?;
        let auth = match check.auth {
            Auth::Api => AuthMode::Api,
            Auth::Subscription => AuthMode::Subscription,
        };
        // As the original does: the agent's first provider, if none is named.
        let login =
            table.row(&check.agent).and_then(|row| row.usable()).and_then(|usable| usable.auth.get(&auth));
        let first = login.and_then(|login| login.providers.first().cloned());
        let provider = check.provider.clone().or(first);
        let ask = Ask { agent: &check.agent, provider: provider.as_deref(), auth: Some(auth), version: None };
        let choice = table.choose(&ask).map_err(|refused| {
            Failure::usage(refused.to_string()).remedy("closedbook agents list says what can be run")
        })?;
        let subject = Subject {
            canary: env!("CARGO_PKG_VERSION").to_owned(),
            table: Some(table.version()),
            agent: Some(check.agent.clone()),
            provider: Some(choice.provider().name.clone()),
            auth: Some(auth.to_string()),
            topology: Some("sealed".to_owned()),
            sidecar: Some(format!("closedbook {}", env!("CARGO_PKG_VERSION"))),
            ..Subject::default()
        };
        Ok(Self {
            agent: check.agent.clone(),
            provider: choice.provider().name.clone(),
            auth,
            policy: flags::agent::policy(&choice, Judge::Usual)?,
            hosts: choice.agent_hosts().iter().map(ToString::to_string).collect(),
            setup: choice.usable().setup.iter().map(|needed| needed.host.to_string()).collect(),
            faults: check.fault.iter().map(|text| fault(text)).collect::<Result<_, _>>()?,
            subject,
            facts: aim::provider_facts(&choice),
        })
    }

    /// The same, about tasks of this image.
    pub(super) fn with_image(mut self, digest: Option<String>) -> Self {
        self.subject.image = digest;
        self
    }

    /// The canary's job, with this witness.
    pub(super) fn job(
        &self,
        witness: Option<Witness>,
        trust: Option<String>,
        kills: bool,
    ) -> Result<Job, Failure> {
        let run = closedbook_canary::Nonce::fresh()
            .ok_or_else(|| Failure::host("the system has no random numbers"))?;
        let with = Circumstances {
            run: run.as_str().to_owned(),
            subject: self.subject.clone(),
            // Only the lab's are: it is asked with a witness.
            own_hosts: witness.is_some(),
            witness,
            trust,
            levels: levels(),
            kills,
            only: Vec::new(),
        };
        let phases = PHASES.map(str::to_owned);
        let mut job = aim::job(&self.policy, &phases, with).map_err(|error| Failure::bug(chain(&error)))?;
        job.facts.extend(self.facts.iter().cloned());
        Ok(job)
    }
}

/// As root: the agent's user, and root with what Docker leaves to it. Otherwise: this user, who can become nobody else.
fn levels() -> BTreeMap<Level, Privilege> {
    if !getuid().is_root() {
        let own = Privilege { uid: getuid().as_raw(), gid: getgid().as_raw(), keep: None };
        return BTreeMap::from([(Level::Agent, own)]);
    }
    let keep = Some(DOCKER_DEFAULT.map(str::to_owned).to_vec());
    BTreeMap::from([
        (Level::Agent, Privilege { uid: AGENT, gid: AGENT, keep: None }),
        (Level::Root, Privilege { uid: 0, gid: 0, keep }),
    ])
}

fn fault(text: &str) -> Result<(Name, Fault), Failure> {
    let (host, kind) = text.split_once('=').ok_or_else(|| {
        Failure::usage(format!("--fault {text:?}: it is HOST=FAULT, as in api.example.com=silent"))
    })?;
    let host = Name::parse(host).map_err(|error| Failure::usage(format!("--fault {text}: {error}")))?;
    let kind = kind.parse().map_err(|error| Failure::usage(format!("--fault {text}: {error}")))?;
    Ok((host, kind))
}
