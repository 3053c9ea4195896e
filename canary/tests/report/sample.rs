//! Evidence as a canary brings it back from a closed book: every probe of the catalogue, made up.

use std::collections::BTreeMap;

use closedbook_canary::engine::{Harness, Outcome, Stage, plan};
use closedbook_canary::report::{Baseline, Evidence, Fact, Subject, judgement::FLOOR};
use closedbook_canary::surroundings::Surroundings;
use closedbook_canary::targets::{Permitted, Targets, Witness};
use closedbook_canary::witness::{Arrival, Record};
use closedbook_canary::{Group, Level, Moment, Nonce, Seen, Try, Want, find};
use closedbook_policy::Policy;

pub(crate) const API: &str = "api.anthropic.com";
pub(crate) const REGISTRY: &str = "registry.npmjs.org";
pub(crate) const WITNESS: &str = "203.0.113.200";

const POLICY: &str = r#"
    schema = 1
    name = "sample"
    [phase.setup]
    allow = ["api.anthropic.com", "registry.npmjs.org"]
    [phase.agent]
    allow = ["api.anthropic.com"]
"#;

/// A pass: two phases, both levels, a baseline and a witness.
pub(crate) fn evidence() -> Evidence {
    let mut maker = Maker::default();
    let policy = Policy::from_text(POLICY).unwrap();
    let aims: BTreeMap<String, Targets> =
        [("setup".to_owned(), aim(&[API, REGISTRY], &[])), ("agent".to_owned(), aim(&[API], &[REGISTRY]))]
            .into();
    let run = "N0NCE-00000000000000ff".to_owned();
    let mut stages = Vec::new();
    for (phase, moments) in [("setup", &[Moment::Phase][..]), ("agent", &[Moment::Switch, Moment::Phase])] {
        for moment in moments {
            for level in Level::ALL {
                stages.push(maker.stage(phase, &aims[phase], level, *moment, &run));
            }
        }
    }
    let digest = policy.digest().to_string();
    for stage in &mut stages {
        stage.policy = Some(digest.clone());
    }
    let open: Vec<Stage> = stages.iter().map(|stage| maker.open(stage)).collect();
    Evidence {
        schema: 1,
        run,
        made: "2026-12-01T09:30:00Z".to_owned(),
        ended: Some("2026-12-01T09:30:14Z".to_owned()),
        subject: Subject {
            canary: env!("CARGO_PKG_VERSION").to_owned(),
            policy: Some(digest),
            table: Some(2),
            agent: Some("claude-code".to_owned()),
            provider: Some("anthropic".to_owned()),
            auth: Some("api".to_owned()),
            topology: Some("sealed".to_owned()),
            sidecar: Some("closedbook 0.1.0".to_owned()),
            image: Some("sha256:5b10f432ef3da1b8d4c7eb6c487f2f5a8f096bc91145e68878dd4a5019afde11".to_owned()),
            phases: vec!["setup".to_owned(), "agent".to_owned()],
        },
        policy: Some(policy.to_json().to_owned()),
        aims,
        stages,
        baseline: Some(Baseline {
            stages: open,
            witness: Record { arrivals: Vec::new(), lost: 0, alive: true, others: 0 },
        }),
        witness: Some(Record { arrivals: Vec::new(), lost: 0, alive: true, others: 3 }),
        facts: vec![
            Fact {
                id: "provider-web-tool".to_owned(),
                phase: None,
                about: "claude-code: WebSearch".to_owned(),
                text: "searches the web; it runs at the provider, where no allowlist stops it".to_owned(),
            },
            Fact {
                id: "channel-package-registry".to_owned(),
                phase: Some("setup".to_owned()),
                about: REGISTRY.to_owned(),
                text: "a registry carries whatever somebody has published".to_owned(),
            },
        ],
    }
}

/// What a phase aims at.
pub(crate) fn aim(permitted: &[&str], setup_only: &[&str]) -> Targets {
    let permitted = permitted
        .iter()
        .map(|name| Permitted { name: (*name).to_owned(), https: true, http: true })
        .collect();
    Targets {
        permitted,
        wildcards: Vec::new(),
        setup_only: setup_only.iter().map(|name| (*name).to_owned()).collect(),
        setup_only_http: setup_only.iter().map(|name| (*name).to_owned()).collect(),
        refused: ["clinicaltrials.gov", "pubmed.ncbi.nlm.nih.gov"].map(str::to_owned).to_vec(),
        witness: Some(Witness {
            name: "witness.test".to_owned(),
            v4: Some(WITNESS.parse().unwrap()),
            v6: Some("2001:db8::2:200".parse().unwrap()),
            quiet: Some("203.0.113.202".parse().unwrap()),
            zone: Some("leak.test".to_owned()),
            resolver: Some("192.0.2.53".parse().unwrap()),
        }),
        trust: None,
        own_hosts: true,
        refuses_ech: false,
    }
}

/// What arrives of a try where it is not stopped.
pub(crate) fn arrival(attempt: &Try) -> Arrival {
    serde_json::from_value(serde_json::json!({
        "proto": "tcp",
        "local": WITNESS,
        "local_port": 443,
        "ascii": format!("GET / {}", attempt.nonce),
        "nonce": attempt.nonce,
    }))
    .unwrap()
}

/// A mark.
pub(crate) fn nonce(number: u64) -> Nonce {
    serde_json::from_value(format!("N0NCE-{number:016x}").into()).unwrap()
}

/// Every try of the sealed run, to damage one of them.
pub(crate) fn tries(evidence: &mut Evidence) -> impl Iterator<Item = &mut Try> {
    let outcomes = evidence.stages.iter_mut().flat_map(|stage| stage.outcomes.iter_mut());
    outcomes.flat_map(|outcome| outcome.tries.iter_mut())
}

/// The outcome of a probe.
pub(crate) fn outcome<'a>(
    evidence: &'a mut Evidence,
    phase: &str,
    level: Level,
    id: &str,
) -> &'a mut Outcome {
    let stages = evidence.stages.iter_mut();
    stages
        .filter(|stage| stage.phase == phase && stage.level == level)
        .flat_map(|stage| stage.outcomes.iter_mut())
        .find(|outcome| outcome.id == id)
        .unwrap()
}

#[derive(Default)]
struct Maker {
    made: u64,
}

impl Maker {
    fn stage(&mut self, phase: &str, aim: &Targets, level: Level, moment: Moment, run: &str) -> Stage {
        let surroundings = around(level);
        let harness = Harness { switches: moment == Moment::Switch, kills: false };
        let planned = plan::plan(moment, level, aim, &surroundings, harness);
        let mut outcomes: Vec<Outcome> = planned
            .iter()
            .map(|planned| Outcome {
                id: planned.probe.id.to_owned(),
                skipped: planned.missing.clone(),
                broken: None,
                tries: match planned.missing {
                    None => self.tries(planned.probe.id, planned.probe.group, aim),
                    Some(_) => Vec::new(),
                },
            })
            .collect();
        if moment == Moment::Phase {
            for id in FLOOR.into_iter().filter(|id| find(id).is_none()) {
                let tries = self.tries(id, Group::L4, aim);
                outcomes.push(Outcome { id: id.to_owned(), skipped: None, broken: None, tries });
            }
        }
        Stage {
            phase: phase.to_owned(),
            level,
            moment,
            run: run.to_owned(),
            policy: None,
            surroundings,
            outcomes,
        }
    }

    fn tries(&mut self, id: &str, group: Group, aim: &Targets) -> Vec<Try> {
        match (id, group) {
            ("allow-nothing-else", _) => {
                let others = aim.refused.iter().chain(&aim.setup_only);
                let stopped = others.map(|host| Try {
                    what: format!("https://{host}/"),
                    to: host.clone(),
                    aimed: None,
                    two_way: true,
                    seen: Seen::Dns { code: "NXDOMAIN".to_owned(), answers: Vec::new() },
                    ..self.made("", Want::Stopped, Seen::Silence)
                });
                stopped.collect()
            }
            (_, Group::Allow) => {
                let hosts = aim.permitted.iter();
                let reached = hosts.map(|host| Try {
                    what: format!("https://{}/", host.name),
                    to: host.name.clone(),
                    aimed: None,
                    ..self.made(
                        "",
                        Want::reached(&host.name),
                        Seen::Verified { name: host.name.clone(), status: 404 },
                    )
                });
                reached.collect()
            }
            (_, Group::Priv | Group::Life | Group::Local) => {
                vec![self.made("looked for", Want::Absent, Seen::NotFound)]
            }
            ("tls-sni-spoof-foreign-ip", _) => {
                let seen = Seen::Verified { name: API.to_owned(), status: 404 };
                vec![self.made("the permitted name, connected elsewhere", Want::rewritten(API), seen)]
            }
            (_, Group::Tls) => vec![
                self.made("a hello", Want::Stopped, Seen::Alert { description: 49 }),
                self.made("a hello in pieces", Want::Stopped, Seen::Reset),
            ],
            (_, Group::Dns) => {
                let seen = Seen::Dns { code: "NXDOMAIN".to_owned(), answers: Vec::new() };
                vec![self.made("a question", Want::Stopped, seen)]
            }
            (_, Group::Udp | Group::L4 | Group::Ip6) => {
                let seen = Seen::Unreachable { errno: "EACCES".to_owned() };
                vec![
                    self.made("a datagram", Want::Stopped, seen),
                    self.made("a connection", Want::Stopped, Seen::Refused),
                ]
            }
            _ => vec![self.made("a request", Want::Stopped, Seen::Reset)],
        }
    }

    fn made(&mut self, what: &str, want: Want, seen: Seen) -> Try {
        self.made += 1;
        Try {
            what: what.to_owned(),
            to: format!("{WITNESS}:443"),
            want,
            nonce: nonce(self.made),
            seen,
            ms: self.made % 9 + 1,
            aimed: Some(WITNESS.parse().unwrap()),
            nowhere: false,
            beside: None,
            quiet: false,
            two_way: false,
            exists: None,
        }
    }

    /// The same where nothing is in the way: everything is answered.
    fn open(&mut self, stage: &Stage) -> Stage {
        let mut open = stage.clone();
        for attempt in open.outcomes.iter_mut().flat_map(|outcome| outcome.tries.iter_mut()) {
            self.made += 1;
            attempt.nonce = nonce(self.made);
            if attempt.want != Want::Absent {
                attempt.seen = Seen::Proof { proof: "p".to_owned() };
            }
        }
        open
    }
}

fn around(level: Level) -> Surroundings {
    let caps = |names: &[&str]| names.iter().map(|name| format!("CAP_{name}")).collect::<Vec<_>>();
    let docker =
        caps(&["CHOWN", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW", "SETGID", "SETUID", "SYS_CHROOT"]);
    Surroundings {
        kernel: "6.12.63".to_owned(),
        uid: if level == Level::Root { 0 } else { 1000 },
        capabilities: if level == Level::Root { docker.clone() } else { Vec::new() },
        bounding: docker,
        devices: vec!["lo".to_owned()],
        ipv6_kernel: true,
        ipv6: true,
        nameservers: vec!["127.0.0.11".parse().unwrap()],
        ..Surroundings::default()
    }
}
