//! The rig, which is a Python program inside a lab: a task's network, a sidecar in it, and the canary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use closedbook_canary::engine::Stage;
use closedbook_canary::report::{Baseline, Evidence, Judgement, Subject};
use closedbook_canary::targets::Targets;
use closedbook_canary::witness::Record;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::live::private_folder;
use crate::support::{Mode, as_mode, open_folder, program, program_in, python, with_input};

const PROGRAMS: [(&str, &str); 9] = [
    ("rig.py", include_str!("programs/rig.py")),
    ("engine.py", include_str!("programs/engine.py")),
    ("rules.py", include_str!("programs/rules.py")),
    ("cell.py", include_str!("programs/cell.py")),
    ("proxy.py", include_str!("programs/proxy.py")),
    ("knobs.py", include_str!("programs/knobs.py")),
    ("hello.py", include_str!("programs/hello.py")),
    ("head.py", include_str!("programs/head.py")),
    ("zone.py", include_str!("programs/zone.py")),
];

/// What one run of the rig saw.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Run {
    pub(crate) stages: Vec<Stage>,
    pub(crate) aims: BTreeMap<String, Targets>,
    pub(crate) record: Record,
    pub(crate) times: Value,
}

/// The rig's files, the canary's among them, for as long as the tests run.
struct Files {
    folder: TempDir,
    canary: PathBuf,
}

fn files() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = open_folder();
        for (name, text) in PROGRAMS {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let canary = program_in(&folder);
        Files { folder, canary }
    })
}

/// Both.
pub(crate) const LEVELS: [&str; 2] = ["agent", "root"];

/// The stages of a run, of these moments: in a whole one across the switch to the agent's phase, in it, and after the sidecar's death.
pub(crate) fn stages(moments: &[&str], levels: &[&str]) -> Value {
    let at = |moment| levels.iter().map(move |level| json!(["agent", level, moment]));
    moments.iter().flat_map(at).collect()
}

/// Runs the rig to its end. `job` says what rig.py's head explains; what is the same everywhere is added.
pub(crate) fn run(mode: Mode, job: &Value) -> Run {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let files = files();
    let permitted = ["api.anthropic.com", "auth.openai.com"];
    let hosts = permitted.map(|name| json!({"name": name, "https": true, "http": true}));
    let mut whole = json!({
        "run": format!("leaky-{}", RUNS.fetch_add(1, Ordering::Relaxed)),
        "canary": [files.canary, "canary", "worker"],
        "allow": {"setup": ["api.anthropic.com", "auth.openai.com", "registry.npmjs.org"], "agent": permitted},
        "rules": {},
        "proxy": {},
        "targets": {
            "permitted": hosts,
            "wildcards": [],
            "setup_only": ["registry.npmjs.org"],
            "setup_only_http": ["registry.npmjs.org"],
            "own_hosts": true,
            "refused": ["clinicaltrials.gov", "pubmed.ncbi.nlm.nih.gov", "example.com"],
            "witness": {
                "name": "witness.test", "v4": "203.0.113.200", "v6": "2001:db8::2:200", "quiet": "203.0.113.202",
                "zone": "leak.test", "resolver": "192.0.2.53",
            },
        },
    });
    for (key, value) in job.as_object().unwrap() {
        whole[key] = value.clone();
    }
    // Rootless, the rig still has to be root of something: of a user namespace of its own.
    let runtime = private_folder(mode);
    let mut command = as_mode(mode, true);
    command.arg(format!("XDG_RUNTIME_DIR={}", runtime.path().display()));
    if mode == Mode::Rootless {
        command.args(["unshare", "--user", "--map-root-user", "--"]);
    }
    command.arg(program()).args(["lab", "exec", "--", python()]).arg(files.folder.path().join("rig.py"));
    let output = with_input(command, whole.to_string().as_bytes());
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "the rig: {complaints}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The same probes with no sidecar, in a task whose root has everything: once for all holes.
pub(crate) fn baseline(mode: Mode) -> &'static Run {
    static ROOT: OnceLock<Run> = OnceLock::new();
    static ROOTLESS: OnceLock<Run> = OnceLock::new();
    let place = if mode == Mode::Root { &ROOT } else { &ROOTLESS };
    let job = || json!({"open": true, "stages": stages(&["switch", "phase"], &LEVELS), "capabilities": ["net_raw"]});
    place.get_or_init(|| run(mode, &job()))
}

/// What follows from what was seen with a sidecar and without.
pub(crate) fn judge(baseline: &Run, sealed: &Run) -> Judgement {
    let evidence = Evidence {
        schema: 1,
        run: sealed.stages[0].run.clone(),
        made: "2026-12-01T00:00:00Z".to_owned(),
        subject: Subject {
            canary: env!("CARGO_PKG_VERSION").to_owned(),
            phases: vec!["agent".to_owned()],
            ..Subject::default()
        },
        aims: sealed.aims.clone(),
        stages: sealed.stages.clone(),
        baseline: Some(Baseline { stages: baseline.stages.clone(), witness: baseline.record.clone() }),
        witness: Some(sealed.record.clone()),
        ..Evidence::default()
    };
    closedbook_canary::report::judgement::judge(&evidence)
}

/// Where a tester can look at what was seen: with CLOSEDBOOK_LEAKY set to a folder, each run is written there.
pub(crate) fn keep(name: &str, run: &Run) {
    let Some(folder) = std::env::var_os("CLOSEDBOOK_LEAKY") else { return };
    let stages = serde_json::to_vec_pretty(&run.stages).unwrap();
    fs::write(Path::new(&folder).join(format!("{name}.json")), stages).unwrap();
}
