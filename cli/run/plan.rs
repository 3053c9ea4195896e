//! From what was typed to what will be done. Everything that can be wrong about the arguments is found here, before
//! anything is started.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use closedbook_policy::{Entry, PhaseName, Policy};
use closedbook_sidecar::outer::Widen;
use nix::unistd::getuid;

use super::Run;
use super::command::Command;
use super::control::Wanted;
use super::lab::{Lab, Which, Wishes};
use crate::audit;
use crate::exit::{Failure, chain};
use crate::flags;
use crate::flags::agent::AgentFlags;
use crate::flags::log::OpenLog;
use crate::flags::metrics::OpenMetrics;
use crate::messages;
use crate::policy;
use crate::sidecar::config::OuterConfig;

/// A run, ready to start.
pub(super) struct Plan {
    pub(super) command: Command,
    pub(super) policy: Policy,
    /// The version of the agent table that it came from, if it did.
    pub(super) table: Option<u32>,
    pub(super) phase: String,
    pub(super) resolvers: Option<Vec<SocketAddr>>,
    pub(super) log: Option<OpenLog>,
    pub(super) metrics: Option<OpenMetrics>,
    pub(super) messages: Option<String>,
    pub(super) kept_sockets: Vec<PathBuf>,
    /// The lab to run in.
    pub(super) lab: Option<Which>,
    pub(super) control: Wanted,
    pub(super) widen: Widen,
    /// Seconds that the command may take.
    pub(super) within: Option<u64>,
    pub(super) quiet: bool,
}

/// The phase of a policy that was made from `--allow` alone, and the default of one that has several.
const DEFAULT_PHASE: &str = "agent";

impl TryFrom<Run> for Plan {
    type Error = Failure;

    fn try_from(run: Run) -> Result<Self, Failure> {
        let Run { allow, policy, agent, agent_flags, phase, lab, lab_name, witness, tape, .. } = run;
        let Run { log, metrics, keep_socket, resolver, control, name, widen, within, quiet, command, .. } =
            run;
        let allowed = allow.iter().map(|text| entry(text)).collect::<Result<Vec<_>, _>>()?;
        let mut table = None;
        let (policy, phase) = match (policy, agent) {
            (Some(file), _) => of_file(&file, phase, allowed)?,
            (None, Some(agent)) => {
                let (policy, version) = of_agent(&agent, &agent_flags, (!quiet).then_some(&command))?;
                table = Some(version);
                in_phase(policy, &format!("the policy of {agent}"), phase, allowed)?
            }
            (None, None) => of_flags(phase, allowed)?,
        };
        Ok(Self {
            command: Command::new(command).ok_or_else(|| Failure::usage("there is no command to run"))?,
            policy,
            table,
            phase,
            resolvers: flags::resolvers(&resolver)?,
            log: log.open()?,
            metrics: metrics.open()?,
            messages: messages::asked()?,
            kept_sockets: keep_socket,
            lab: Which::of(lab.then_some(Wishes { witness, tape }), lab_name.as_deref())?,
            control: Wanted { path: control, name },
            widen,
            within,
            quiet,
        })
    }
}

impl Plan {
    /// What the proxy is told.
    pub(super) fn outer_config(&self, lab: Option<&Lab>) -> OuterConfig {
        OuterConfig {
            policy: self.policy.to_json().to_owned(),
            table: self.table,
            phase: self.phase.clone(),
            resolvers: lab.map(Lab::resolvers).or_else(|| self.resolvers.clone()),
            messages: self.messages.clone(),
            log: self.log.as_ref().map(OpenLog::manner).unwrap_or_default(),
            widen: self.widen.word().to_owned(),
            owner: getuid().as_raw(),
        }
    }
}

fn entry(text: &str) -> Result<Entry, Failure> {
    Entry::parse(text).map_err(|error| Failure::usage(format!("--allow {}", chain(&error))))
}

fn of_file(file: &Path, phase: Option<String>, allowed: Vec<Entry>) -> Result<(Policy, String), Failure> {
    in_phase(policy::load(file)?, &file.display().to_string(), phase, allowed)
}

/// G15: what the table does not name is refused, before anything is started.
fn of_agent(
    agent: &str,
    flags: &AgentFlags,
    command: Option<&Vec<OsString>>,
) -> Result<(Policy, u32), Failure> {
    let table = flags.table.load()?;
    let choice = flags.choose(&table, agent).map_err(|refused| {
        Failure::usage(refused.to_string()).remedy("closedbook agents list says what can be run")
    })?;
    let policy = flags::agent::policy(&choice, flags.judge())?;
    if let Some(command) = command {
        // No allowlist stops what runs at the provider, so whoever starts an agent hears what the model is offered.
        let tools = audit::config::own::warnings(&choice, command)?;
        for warning in flags::agent::warnings(&choice).iter().chain(&tools) {
            eprintln!("closedbook: {warning}");
        }
    }
    Ok((policy, table.version()))
}

fn in_phase(
    policy: Policy,
    what: &str,
    phase: Option<String>,
    allowed: Vec<Entry>,
) -> Result<(Policy, String), Failure> {
    let phase = match phase {
        Some(phase) => phase,
        None => default_phase(&policy).ok_or_else(|| {
            Failure::usage(format!("{what} has several phases: {}", names(&policy)))
                .remedy("choose one with --phase NAME")
        })?,
    };
    if policy.phase(&phase).is_none() {
        return Err(Failure::usage(format!("{what} has no phase {phase:?}"))
            .remedy(format!("it has: {}", names(&policy))));
    }
    if allowed.is_empty() {
        return Ok((policy, phase));
    }
    Ok((policy.with_allowed(&phase_name(&phase)?, &allowed), phase))
}

fn of_flags(phase: Option<String>, allowed: Vec<Entry>) -> Result<(Policy, String), Failure> {
    let phase = phase.unwrap_or_else(|| DEFAULT_PHASE.to_owned());
    Ok((Policy::single(&phase_name(&phase)?, &allowed), phase))
}

/// A phase that can be defined; `lockdown` can't, since it allows nothing by definition.
fn phase_name(text: &str) -> Result<PhaseName, Failure> {
    PhaseName::parse(text)
        .map_err(|error| Failure::usage(format!("--allow in phase {text}: {}", chain(&error))))
}

/// The only phase there is, or `agent`.
fn default_phase(policy: &Policy) -> Option<String> {
    let mut own = policy.phases().map(|phase| phase.name()).filter(|name| *name != "lockdown");
    match (own.next(), own.next()) {
        (Some(only), None) => Some(only.to_owned()),
        _ => policy.phase(DEFAULT_PHASE).map(|phase| phase.name().to_owned()),
    }
}

fn names(policy: &Policy) -> String {
    policy.phases().map(|phase| phase.name()).collect::<Vec<_>>().join(", ")
}
