use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use closedbook_policy::{Phase, Policy, Reason, Refusal};

use super::writer::{self, Sink};
use super::{Kind, Log, LogTo, Record, Rotation, WhenFull};

fn phase() -> Arc<Phase> {
    let policy = Policy::from_toml("schema = 1\nphase.agent.allow = [\"a.example\"]").unwrap();
    Arc::clone(policy.phase("agent").unwrap())
}

fn to(file: File) -> LogTo {
    LogTo { file, opens: false, when_full: WhenFull::Stop, rotation: None }
}

fn refusal() -> Refusal {
    Refusal::new(Reason::NameNotAllowed, "no entry names it")
}

/// The words of what is wrong.
fn troubles(log: &Log) -> Vec<&'static str> {
    log.troubles().into_iter().map(|trouble| trouble.word).collect()
}

/// G13: the line is schema 1: these fields, in this order.
#[tokio::test]
async fn schema() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (log, writer) = Log::to(Some(to(file.reopen().unwrap())), Arc::default());
    let writer = writer.start().unwrap();
    let mut record = log.open(phase()).await.unwrap();
    record.note(|entry| {
        entry.kind = Kind::Tls;
        entry.name = Some("b.example".into());
        entry.port = Some(443);
        entry.original = Some("[2001:db8::1]:443".parse().unwrap());
    });
    record.moved().up.store(7, Ordering::Relaxed);
    record.deny(&refusal());
    drop(log);
    writer.finish().await.unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    let ts = line["ts"].as_str().unwrap();
    assert!(
        ts.len() == 24 && ts.ends_with('Z') && ts.as_bytes()[10] == b'T' && ts.as_bytes()[19] == b'.',
        "{ts}"
    );
    let (ms, policy) = (&line["ms"], phase().policy());
    let expected = format!(
        "{{\"ts\":\"{ts}\",\"id\":1,\"phase\":\"agent\",\"epoch\":0,\"policy\":\"{policy}\",\"kind\":\"tls\",\
         \"name\":\"b.example\",\"port\":443,\"original\":\"[2001:db8::1]:443\",\"dialled\":null,\
         \"verdict\":\"deny\",\"reason\":\"name-not-allowed\",\"rule\":null,\"bytes_up\":7,\"bytes_down\":0,\
         \"ms\":{ms},\"detail\":\"no entry names it\"}}\n"
    );
    assert_eq!(text, expected);
}

/// G13: each record is written once, however it ends: in order, by a cancelled task, by a panic.
#[tokio::test]
async fn exactly_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (log, writer) = Log::to(Some(to(file.reopen().unwrap())), Arc::default());
    let writer = writer.start().unwrap();
    log.open(phase()).await.unwrap().allow();
    log.open(phase()).await.unwrap().deny(&refusal());
    log.open(phase()).await.unwrap().cut(&Refusal::new(Reason::PhaseChanged, ""));
    drop(log.open(phase()).await.unwrap());
    let hangs = |record: Record| async move {
        std::future::pending::<()>().await;
        record.allow();
    };
    let task = tokio::spawn(hangs(log.open(phase()).await.unwrap()));
    tokio::task::yield_now().await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    let record = log.open(phase()).await.unwrap();
    let panics = tokio::spawn(async move {
        let _record = record;
        panic!("for the test");
    });
    assert!(panics.await.unwrap_err().is_panic());
    let summary = log.tally().summary();
    assert_eq!((summary.allowed, summary.cut), (1, 4));
    drop(log);
    writer.finish().await.unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ids: Vec<_> = lines.iter().map(|line| line["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6]);
    let verdicts: Vec<_> = lines.iter().map(|line| line["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["allow", "deny", "cut", "cut", "cut", "cut"]);
    assert_eq!(lines[4]["detail"], "closedbook stopped");
    assert_eq!(lines[5]["detail"], "a fault of closedbook");
}

/// A file that fails until it is mended, and takes few bytes at a time unless it is roomy.
#[derive(Clone, Default)]
struct Disk {
    roomy: bool,
    full: Arc<AtomicBool>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let count = if self.roomy { bytes.len() } else { bytes.len().min(10) };
        self.written.lock().unwrap().extend(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// G13: a log that can't be written refuses new attempts; when it can again, nothing is missing.
#[tokio::test]
async fn full_disk() {
    let disk = Disk::default();
    let (log, lines) = Log::unwritten(1000, false, WhenFull::Stop, Arc::default());
    let state = Arc::clone(&log.state);
    let sink = Sink::of(disk.clone());
    let writer = std::thread::spawn(move || writer::write(lines, sink, &state));
    disk.full.store(true, Ordering::Relaxed);
    log.open(phase()).await.unwrap().allow();
    while log.open(phase()).await.is_ok_and(|record| {
        record.allow();
        true
    }) {
        tokio::task::yield_now().await;
    }
    let refusal = log.open(phase()).await.unwrap_err();
    assert_eq!(refusal.reason, Reason::Limit);
    assert_eq!(troubles(&log), ["log-unwritable"]);
    disk.full.store(false, Ordering::Relaxed);
    let last = loop {
        match log.open(phase()).await {
            Ok(record) => break record,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let last_id = last.id();
    assert_eq!(troubles(&log), Vec::<&str>::new());
    last.allow();
    assert!(log.tally().summary().unrecorded >= 2);
    drop(log);
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(disk.written.lock().unwrap().clone()).unwrap();
    let ids: Vec<u64> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, (1..=last_id).collect::<Vec<_>>());
}

fn numbers(text: &str) -> Vec<u64> {
    let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64().unwrap();
    text.lines().map(id).collect()
}

/// G13: a log that is put aside loses no line and tears none, and no file is larger than asked for.
#[tokio::test]
async fn rotation() {
    const MOST: usize = 4096;
    let disks = Arc::new(Mutex::new(vec![Disk::default()]));
    let (log, lines) = Log::unwritten(1000, false, WhenFull::Stop, Arc::default());
    let (state, all) = (Arc::clone(&log.state), Arc::clone(&disks));
    let first = disks.lock().unwrap()[0].clone();
    let sink = Sink::rotating(first, MOST as u64, move || {
        let next = Disk::default();
        all.lock().unwrap().push(next.clone());
        Ok(next)
    });
    let writer = std::thread::spawn(move || writer::write(lines, sink, &state));
    for _ in 0..200 {
        log.open(phase()).await.unwrap().deny(&refusal());
    }
    drop(log);
    writer.join().unwrap().unwrap();
    let texts: Vec<String> = disks
        .lock()
        .unwrap()
        .iter()
        .map(|disk| String::from_utf8(disk.written.lock().unwrap().clone()).unwrap())
        .collect();
    assert!(texts.len() > 200 * 300 / MOST, "{}", texts.len());
    for text in &texts {
        assert!(text.len() <= MOST && text.ends_with('\n'), "{}", text.len());
    }
    assert_eq!(numbers(&texts.concat()), (1..=200).collect::<Vec<_>>());
}

/// G13: a log that can't be put aside grows on, and health says so.
#[tokio::test]
async fn rotation_that_fails() {
    let disk = Disk::default();
    let (log, lines) = Log::unwritten(1000, false, WhenFull::Stop, Arc::default());
    let state = Arc::clone(&log.state);
    let sink = Sink::rotating(disk.clone(), 4096, || Err(io::ErrorKind::PermissionDenied.into()));
    let writer = std::thread::spawn(move || writer::write(lines, sink, &state));
    for _ in 0..100 {
        log.open(phase()).await.unwrap().deny(&refusal());
    }
    while troubles(&log).is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(troubles(&log), ["log-not-put-aside"]);
    drop(log);
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(disk.written.lock().unwrap().clone()).unwrap();
    assert_eq!(numbers(&text), (1..=100).collect::<Vec<_>>());
}

/// G13: who goes on without a log counts what it does not hold, and health says so.
#[tokio::test]
async fn going_on() {
    let disk = Disk { roomy: true, ..Disk::default() };
    disk.full.store(true, Ordering::Relaxed);
    let (log, lines) = Log::unwritten(1000, false, WhenFull::Continue, Arc::default());
    let state = Arc::clone(&log.state);
    let sink = Sink::of(disk.clone());
    let writer = std::thread::spawn(move || writer::write(lines, sink, &state));
    log.open(phase()).await.unwrap().allow();
    while troubles(&log).is_empty() {
        tokio::task::yield_now().await;
    }
    // Far more than there are places.
    const MANY: u64 = 5_000;
    for _ in 0..MANY {
        log.open(phase()).await.unwrap().allow();
    }
    let summary = log.tally().summary();
    assert_eq!(summary.allowed, MANY + 1);
    assert!(summary.unrecorded > 0 && summary.unrecorded < MANY);
    assert!(log.troubles()[0].detail.contains("go on"));
    disk.full.store(false, Ordering::Relaxed);
    drop(log);
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(disk.written.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count() as u64, MANY + 1 - summary.unrecorded);
}

/// A flow that opens has a line of its own when asked for, under the number of its record.
#[tokio::test]
async fn openings() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let to = LogTo { opens: true, ..to(file.reopen().unwrap()) };
    let (log, writer) = Log::to(Some(to), Arc::default());
    let writer = writer.start().unwrap();
    let mut record = log.open(phase()).await.unwrap();
    record.note(|entry| entry.dialled = Some("203.0.113.10:443".parse().unwrap()));
    record.opened();
    record.opened();
    record.allow();
    log.open(phase()).await.unwrap().deny(&refusal());
    drop(log);
    writer.finish().await.unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert_eq!(numbers(&text), [1, 1, 2]);
    let opening: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&opening["event"], &opening["dialled"]), (&"flow.open".into(), &"203.0.113.10:443".into()));
    assert_eq!(opening["verdict"], serde_json::Value::Null);
    assert_eq!(text.matches("flow.open").count(), 1);
}

/// G13: a log whose last writer died within a line goes on with a line of its own.
#[tokio::test]
async fn torn_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, "{\"id\":7,\"ts").unwrap();
    let file = File::options().read(true).append(true).open(&path).unwrap();
    let (log, writer) = Log::to(Some(to(file)), Arc::default());
    let writer = writer.start().unwrap();
    log.open(phase()).await.unwrap().allow();
    drop(log);
    writer.finish().await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let (torn, rest) = text.split_once('\n').unwrap();
    assert_eq!((torn, numbers(rest)), ("{\"id\":7,\"ts", vec![1]));
}

/// A log's rotation is asked for the next file only when this one is full.
#[tokio::test]
async fn rotation_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &std::path::Path| File::options().append(true).create(true).open(path).unwrap();
    let (path, aside) = (folder.path().join("log"), folder.path().join("log.1"));
    let file = open(&path);
    let next = {
        let (path, aside) = (path.clone(), aside.clone());
        Box::new(move || {
            std::fs::rename(&path, &aside)?;
            File::options().append(true).create(true).open(&path)
        })
    };
    let to = LogTo { rotation: Some(Rotation { most: 8192, next }), ..to(file) };
    let (log, writer) = Log::to(Some(to), Arc::default());
    let writer = writer.start().unwrap();
    for _ in 0..30 {
        log.open(phase()).await.unwrap().deny(&refusal());
    }
    drop(log);
    writer.finish().await.unwrap();
    let (aside, now) = (std::fs::read_to_string(aside).unwrap(), std::fs::read_to_string(path).unwrap());
    assert!(aside.len() <= 8192 && !now.is_empty());
    assert_eq!(numbers(&(aside + &now)), (1..=30).collect::<Vec<_>>());
}
