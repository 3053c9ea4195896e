use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use closedbook_policy::{Phase, Policy, Reason, Refusal};

use super::{Kind, Log, Record, writer};

fn phase() -> Arc<Phase> {
    let policy = Policy::from_toml("schema = 1\nphase.agent.allow = [\"a.example\"]").unwrap();
    Arc::clone(policy.phase("agent").unwrap())
}

fn refusal() -> Refusal {
    Refusal::new(Reason::NameNotAllowed, "no entry names it")
}

/// G13: the line is schema 1: these fields, in this order.
#[tokio::test]
async fn schema() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (log, writer) = Log::to(Some(file.reopen().unwrap()));
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
    writer.finish().unwrap();
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
    let (log, writer) = Log::to(Some(file.reopen().unwrap()));
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
    writer.finish().unwrap();
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

/// A file that fails until it is mended, and takes few bytes at a time.
#[derive(Clone, Default)]
struct Disk {
    full: Arc<AtomicBool>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(10);
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
    let (log, entries) = Log::unwritten();
    let broken = Arc::clone(&log.broken);
    let file = disk.clone();
    let writer = std::thread::spawn(move || writer::write(entries, file, &broken));
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
    disk.full.store(false, Ordering::Relaxed);
    let last = loop {
        match log.open(phase()).await {
            Ok(record) => break record,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let last_id = last.id();
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
