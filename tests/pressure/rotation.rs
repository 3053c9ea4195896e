//! Logs that are put aside.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;

use serde_json::Value;

use crate::support::live::{Live, private_folder};
use crate::support::{Mode, Run, USER, as_mode, modes, program};
use crate::{python, run};

const MANY: &str = "
for number in range(60):
    get(f'/{number}', host='example.com')
";

fn ids(text: &str) -> Vec<u64> {
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap()).collect()
}

/// G13: files of at most the size asked for, as many as asked for, the newest first; no line lost or torn. They belong
/// to the user who asked, although the proxy may touch no file.
#[test]
fn logs_are_put_aside() {
    for &mode in modes() {
        let run = run(mode).flag("--log-max").flag("4096").flag("--log-keep").flag("3");
        let words = python(MANY);
        let output = run.command(&words.each_ref().map(String::as_str)).output().unwrap();
        let log = run.file("egress.jsonl");
        let outcome = run.outcome(output).must_succeed();
        assert_eq!(outcome.stderr.matches("closedbook:").count(), 1, "{outcome:#?}");
        let me = nix::unistd::geteuid();
        let owner = if mode == Mode::Rootless && me.is_root() { USER } else { me.as_raw() };
        let mut all = Vec::new();
        for name in ["egress.jsonl.3", "egress.jsonl.2", "egress.jsonl.1", "egress.jsonl"] {
            let file = run.file(name);
            let meta = fs::metadata(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(meta.len() <= 4096, "{name}: {}", meta.len());
            assert_eq!(meta.uid(), owner);
            assert_eq!(meta.mode() & 0o777, 0o600);
            all.extend(ids(&fs::read_to_string(&file).unwrap()));
        }
        assert!(!log.with_extension("jsonl.4").exists());
        let (first, last) = (all[0], *all.last().unwrap());
        assert_eq!(all, (first..=last).collect::<Vec<_>>());
        assert_eq!(last, 60);
        assert!(first > 1 && all.len() > 25, "{all:?}");
    }
}

/// G13: whoever follows the log of a run hears of every record once, in its order, however often the file is put aside
/// meanwhile; and who reads the files has the same.
#[test]
fn followed_while_it_is_put_aside() {
    for &mode in modes() {
        let runtime = private_folder(mode);
        let run = run(mode).flag("--log-max").flag("4096").flag("--log-keep").flag("1000");
        let words = python(&format!("say('there')\n{MANY}say('done')\n"));
        let mut run = Live::start(run, mode, &runtime, &words.each_ref().map(String::as_str));
        assert_eq!(run.hear(), "there");
        let mut follower = as_mode(mode, true);
        follower.arg(format!("XDG_RUNTIME_DIR={}", runtime.path().display())).arg(program());
        follower.args(["log", "-f", "--json", "--pid", &run.id().to_string()]).stdout(Stdio::piped());
        let mut follower = follower.spawn().unwrap();
        let followed = BufReader::new(follower.stdout.take().unwrap()).lines();
        run.say("");
        let heard: String = followed.take(60).map(|line| line.unwrap() + "\n").collect();
        assert_eq!(ids(&heard), (1..=60).collect::<Vec<_>>());
        assert_eq!(run.hear(), "done");
        follower.kill().unwrap();
        follower.wait().unwrap();
        run.say("");
        let (outcome, run) = run.end_with_files();
        outcome.must_succeed();
        let mut text = fs::read_to_string(run.file("egress.jsonl")).unwrap();
        for number in 1.. {
            let Ok(older) = fs::read_to_string(run.file(&format!("egress.jsonl.{number}"))) else { break };
            text.insert_str(0, &older);
        }
        assert_eq!(ids(&text), (1..=60).collect::<Vec<_>>());
        assert!(text.len() > 2 * 4096);
    }
}

/// A log that can't be put aside is found out before anything is started.
#[test]
fn what_can_not_be_put_aside() {
    for (log, flags, complaint) in [
        ("/dev/null", &["--log-max", "1MB"][..], "not a regular file"),
        ("log", &["--log-max", "12"], "at least 4096"),
        ("log", &["--log-keep", "3"], "--log-max"),
        ("log", &["--log-max", "1MB", "--log-keep", "0"], "0 is not in 1..=1000"),
    ] {
        let mut command = crate::support::as_mode(modes()[0], false);
        let folder = crate::support::open_folder();
        command.arg(crate::support::program()).args(["run", "--log", log]).args(flags).args(["--", "true"]);
        let output = command.current_dir(folder.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {stderr}");
        assert!(stderr.contains(complaint), "{flags:?}: {stderr}");
    }
}

/// G13: with `--log-open` a flow has two lines, the first when its server is reached; what is refused has one.
#[test]
fn openings() {
    let run: Run = run(modes()[0]).flag("--log-open");
    let words = python("assert get('/a') == 200\nassert get('/b', host='example.com') == 403\n");
    let output = run.command(&words.each_ref().map(String::as_str)).output().unwrap();
    let outcome = run.outcome(output).must_succeed();
    let told: Vec<_> =
        outcome.log.iter().map(|line| (&line["event"], &line["id"], &line["verdict"])).collect();
    let opening = Value::from("flow.open");
    assert_eq!(
        told,
        [
            (&opening, &1.into(), &Value::Null),
            (&Value::Null, &1.into(), &"allow".into()),
            (&Value::Null, &2.into(), &"deny".into()),
        ],
        "{outcome:#?}"
    );
    assert_eq!(outcome.log[0]["dialled"], outcome.log[1]["dialled"]);
}
