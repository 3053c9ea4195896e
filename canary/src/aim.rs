//! From policy and agent table to a job: what is aimed at in each phase, and what no probe can try. Pure.

use std::collections::BTreeMap;

use closedbook_agents::{Choice, Runs};
use closedbook_policy::{Carries, Ech, Pattern, Phase, Policy, Target};
use thiserror::Error;

use crate::engine::job::{Job, PhaseJob, Privilege};
use crate::probe::Level;
use crate::report::evidence::{Fact, Subject};
use crate::targets::{Permitted, Targets, Witness};

/// Public sites that the original canary of TrialDesignBench tries, and one that everybody knows. A policy that permits one
/// of them is not aimed at with it.
const PUBLIC: [&str; 3] = ["clinicaltrials.gov", "pubmed.ncbi.nlm.nih.gov", "example.com"];

/// Why there is no job.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoAim {
    /// No phase was named.
    #[error("no phase was named")]
    NoPhase,
    /// The policy has no phase of this name.
    #[error("the policy has no phase {asked:?}; it has: {}", .there.join(", "))]
    Phase {
        /// Which was wanted.
        asked: String,
        /// Which there are.
        there: Vec<String>,
    },
}

/// What the caller knows beside the policy.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// A name that no other run has.
    pub run: String,
    /// What is known of the subject so far; policy and phases are filled in.
    pub subject: Subject,
    /// The operator's own server.
    pub witness: Option<Witness>,
    /// Whether the permitted hosts are the operator's own, and prove their answers.
    pub own_hosts: bool,
    /// Certificates to trust besides, PEM.
    pub trust: Option<String>,
    /// As whom.
    pub levels: BTreeMap<Level, Privilege>,
    /// Whether the harness kills the sidecar at the end.
    pub kills: bool,
    /// Only probes whose id starts with one of these.
    pub only: Vec<String>,
}

/// The job of trying these phases of a policy, in this order.
pub fn job(policy: &Policy, phases: &[String], with: Circumstances) -> Result<Job, NoAim> {
    let there = || policy.phases().map(|phase| phase.name().to_owned()).collect();
    let found = phases
        .iter()
        .map(|name| policy.phase(name).ok_or_else(|| NoAim::Phase { asked: name.clone(), there: there() }));
    let found: Vec<_> = found.collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err(NoAim::NoPhase);
    }
    let Circumstances { run, subject, witness, own_hosts, trust, levels, kills, only } = with;
    let phases = found.iter().enumerate().map(|(position, phase)| {
        let before = position.checked_sub(1).and_then(|before| found.get(before));
        let gone = before.map_or_else(Vec::new, |before| only_in(before, phase));
        let names = |on: fn(&Permitted) -> bool| {
            gone.iter().filter(|host| on(host)).map(|host| host.name.clone()).collect()
        };
        let mut targets = Targets {
            setup_only: names(|host| host.https),
            own_hosts,
            setup_only_http: if own_hosts { names(|host| host.http) } else { Vec::new() },
            refused: refused(policy),
            witness: witness.clone(),
            trust: trust.clone(),
            refuses_ech: policy.ech() == Ech::Refuse,
            ..of_phase(phase)
        };
        // Those that stay come first: what is aimed at by the first of them is then the same in every phase.
        targets.permitted.sort_by_key(|host| !found.iter().all(|phase| permits(phase, &host.name)));
        PhaseJob { name: phase.name().to_owned(), targets }
    });
    let phases: Vec<PhaseJob> = phases.collect();
    let names = phases.iter().map(|phase| phase.name.clone()).collect();
    let subject = Subject { policy: Some(policy.digest().to_string()), phases: names, ..subject };
    let text = Some(policy.to_json().to_owned());
    Ok(Job { schema: 1, run, subject, policy: text, phases, levels, kills, only, facts: channels(policy) })
}

/// What the table says of an agent that no network filter can see: tools that run at the provider, reached through the
/// permitted model host.
pub fn provider_facts(choice: &Choice<'_>) -> Vec<Fact> {
    let at_provider = choice.usable().tools.iter().filter(|tool| tool.runs != Runs::Client);
    at_provider
        .map(|tool| {
            let switches: Vec<String> = tool.switches.iter().map(ToString::to_string).collect();
            let off = match switches.as_slice() {
                [] => "no switch is known".to_owned(),
                switches => format!("off by: {}", switches.join("; ")),
            };
            Fact {
                id: "provider-web-tool".to_owned(),
                phase: None,
                about: format!("{}: {}", choice.row().name, tool.name),
                text: format!("{}; it runs at the provider, where no allowlist stops it; {off}", tool.does),
            }
        })
        .collect()
}

/// What the policy permits that can carry more than it names.
fn channels(policy: &Policy) -> Vec<Fact> {
    let advice = policy.advice().into_iter();
    let mut facts: Vec<Fact> = advice
        .map(|advice| Fact {
            id: advice.concern.word().to_owned(),
            phase: advice.field.strip_prefix("phase.").map(str::to_owned),
            about: advice.subject,
            text: format!("{}: {}", advice.detail, advice.concern.why()),
        })
        .collect();
    facts.push(Fact {
        id: "channel-domain-fronting".to_owned(),
        phase: None,
        about: "permitted hosts".to_owned(),
        text: "TLS is not opened: whoever shares a permitted host's servers can be asked for by a Host field inside it"
            .to_owned(),
    });
    facts.push(Fact {
        id: "channel-time".to_owned(),
        phase: None,
        about: "permitted hosts".to_owned(),
        text: "that a permitted host is asked, and when, is a message to whoever runs it".to_owned(),
    });
    facts
}

/// What a phase permits by name.
pub(crate) fn of_phase(phase: &Phase) -> Targets {
    let mut targets = Targets::default();
    for entry in phase.entries() {
        let Target::Names(pattern) = entry.target() else { continue };
        if entry.carries() == Carries::Tcp {
            continue;
        }
        let (https, http) = (entry.ports().contains(443), entry.ports().contains(80));
        match pattern {
            Pattern::Below(suffix) => targets.wildcards.push(suffix.as_str().to_owned()),
            Pattern::Exact(name) => {
                let known = targets.permitted.iter_mut().find(|host| host.name == name.as_str());
                match known {
                    Some(host) => {
                        host.https |= https;
                        host.http |= http;
                    }
                    None => targets.permitted.push(Permitted { name: name.as_str().to_owned(), https, http }),
                }
            }
        }
    }
    targets
}

/// Whether a phase lets this name through at all.
fn permits(phase: &Phase, name: &str) -> bool {
    closedbook_policy::Name::parse(name).is_ok_and(|name| phase.resolves(&name).is_some())
}

/// Hosts of `before` that `now` does not permit at all.
fn only_in(before: &Phase, now: &Phase) -> Vec<Permitted> {
    let hosts = of_phase(before).permitted.into_iter();
    hosts.filter(|host| !permits(now, &host.name)).collect()
}

fn refused(policy: &Policy) -> Vec<String> {
    let permitted = |name: &str| policy.phases().any(|phase| permits(phase, name));
    PUBLIC.into_iter().filter(|name| !permitted(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"
        schema = 1
        name = "two"
        [phase.setup]
        allow = ["api.example.net", "registry.example.net", "*.wild.example.net", "tcp://git.example.net:22"]
        [phase.agent]
        allow = ["api.example.net:443", "192.0.2.0/24"]
    "#;

    fn aimed() -> Job {
        let policy = Policy::from_toml(POLICY).unwrap();
        let witness = Witness {
            name: "witness.example".to_owned(),
            v4: None,
            v6: None,
            quiet: None,
            zone: None,
            resolver: None,
        };
        let with = Circumstances { witness: Some(witness), own_hosts: true, ..Circumstances::default() };
        job(&policy, &["setup".to_owned(), "agent".to_owned()], with).unwrap()
    }

    #[test]
    fn each_phase_has_its_own_aims() {
        let job = aimed();
        let [setup, agent] = job.phases.as_slice() else { panic!("two phases") };
        let host = |name: &str, http| Permitted { name: name.to_owned(), https: true, http };
        assert_eq!(setup.targets.permitted.len(), 2);
        assert_eq!(setup.targets.wildcards, ["wild.example.net"]);
        assert!(setup.targets.setup_only.is_empty());
        assert_eq!(agent.targets.permitted, [host("api.example.net", false)]);
        assert_eq!(agent.targets.setup_only, ["registry.example.net"]);
        assert_eq!(agent.targets.setup_only_http, ["registry.example.net"]);
        assert_eq!(job.subject.phases, ["setup", "agent"]);
        assert!(job.subject.policy.is_some());
    }

    #[test]
    fn what_the_policy_opens_is_a_fact() {
        let ids: Vec<String> = aimed().facts.into_iter().map(|fact| fact.id).collect();
        assert!(
            ids.contains(&"channel-wildcard".to_owned()) && ids.contains(&"channel-raw-tcp".to_owned()),
            "{ids:?}"
        );
    }

    #[test]
    fn a_phase_that_is_not_there_is_no_job() {
        let policy = Policy::from_toml(POLICY).unwrap();
        let asked = job(&policy, &["agnet".to_owned()], Circumstances::default());
        assert!(matches!(asked, Err(NoAim::Phase { .. })));
        assert_eq!(job(&policy, &[], Circumstances::default()), Err(NoAim::NoPhase));
    }

    #[test]
    fn a_public_site_that_is_permitted_is_not_aimed_at_as_refused() {
        let policy = Policy::from_toml("schema = 1\n[phase.agent]\nallow = [\"example.com\"]").unwrap();
        let job = job(&policy, &["agent".to_owned()], Circumstances::default()).unwrap();
        assert!(!job.phases[0].targets.refused.contains(&"example.com".to_owned()));
    }
}
