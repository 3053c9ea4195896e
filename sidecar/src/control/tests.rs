use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use super::lines::LONGEST;
use super::server;
use crate::outer::stop;
use crate::outer::testing::World;

const POLICY: &str = r#"
    schema = 1
    name = "two"
    [phase.agent]
    allow = ["a.example", "tcp://git.example:22"]
    [phase.narrow]
    allow = []
"#;

/// A proxy with a control socket.
struct Office {
    world: World,
    running: stop::Running,
    serving: JoinHandle<()>,
    folder: TempDir,
}

/// One client of it.
struct Client(BufReader<UnixStream>);

impl Office {
    async fn open() -> Self {
        Self::owned_by(nix::unistd::getuid().as_raw()).await
    }

    async fn owned_by(owner: u32) -> Self {
        let world = World::new(POLICY, &[("a.example", &["203.0.113.1"])]).await;
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("control")).unwrap();
        let (running, stopped) = stop::signal();
        let serving = tokio::spawn(server::serve(listener, owner, world.outer(), stopped));
        Self { world, running, serving, folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("control")
    }

    async fn client(&self) -> Client {
        Client(BufReader::new(UnixStream::connect(self.path()).await.unwrap()))
    }

    /// Something that is recorded: a connection without evidence.
    async fn refuse(&self, times: usize) {
        for _ in 0..times {
            self.world.exchange("203.0.113.1:443", b"?").await;
        }
    }

    async fn close(self) {
        drop(self.running);
        self.serving.await.unwrap();
        self.world.end().await;
    }
}

impl Client {
    async fn say(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.say(format!("{request}\n").as_bytes()).await;
        let mut answer = self.hear().await;
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&"2.0".into(), &7.into()), "{answer}");
        match answer.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(answer["result"].take()),
        }
    }

    async fn ends(&mut self) {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }
}

#[tokio::test]
async fn methods() {
    let office = Office::open().await;
    office.refuse(2).await;
    let mut client = office.client().await;
    let status = client.ask("status", json!({})).await.unwrap();
    assert_eq!((&status["phase"], &status["epoch"]), (&"agent".into(), &1.into()), "{status}");
    assert_eq!((&status["topology"], &status["policy_name"]), (&"sealed".into(), &"two".into()));
    assert_eq!(status["counters"]["reasons"], json!({"not-tls-or-http": 2}));
    assert_eq!(status["counters"]["denied"], 2);
    assert_eq!(status["degraded"], json!([]));
    assert_eq!(status["load"]["hellos"]["now"], 0);
    assert!(status["load"]["connections"]["most"].as_u64() > Some(1000), "{status}");
    assert!(status["load"]["descriptors"]["now"].as_u64() > Some(3), "{status}");
    let health = client.ask("health", json!({})).await.unwrap();
    assert_eq!(health, json!({"ok": true, "degraded": []}));
    let metrics = client.ask("metrics", json!({})).await.unwrap();
    let text = metrics["text"].as_str().unwrap();
    assert!(
        text.contains("reason=\"not-tls-or-http\",phase=\"agent\"} 2\n") && text.ends_with("# EOF\n"),
        "{text}"
    );
    let phase = client.ask("phase.get", json!({})).await.unwrap();
    assert_eq!(phase["allow"], json!(["a.example", "tcp://git.example:22"]));
    assert_eq!(phase["phases"], json!(["agent", "lockdown", "narrow"]));
    let switched = client.ask("phase.set", json!({"name": "narrow"})).await.unwrap();
    assert_eq!((&switched["phase"], &switched["epoch"]), (&"narrow".into(), &2.into()));
    assert_eq!(switched["cut"], json!({"total": 0, "hosts": []}));
    let policy = client.ask("policy.get", json!({})).await.unwrap();
    assert_eq!(policy["digest"], status["policy"]);
    let again = client.ask("policy.set", json!({"policy": policy["policy"]})).await.unwrap();
    assert_eq!((&again["policy"], &again["epoch"]), (&status["policy"], &3.into()));
    let flows = client.ask("flows.list", json!({})).await.unwrap();
    assert_eq!(flows, json!({"total": 0, "flows": []}));
    office.close().await;
}

/// What lives is listed, and what a switch cuts is told.
#[tokio::test]
async fn flows_and_cuts() {
    let office = Office::open().await;
    office.world.server("203.0.113.1:443", crate::outer::testing::echo).await;
    let hello = crate::outer::testing::hello::hello(Some("a.example"));
    let mut task = office.world.connect("198.51.100.1:443").await;
    task.write_all(&hello).await.unwrap();
    let mut back = vec![0; hello.len()];
    task.read_exact(&mut back).await.unwrap();
    let mut client = office.client().await;
    let flows = client.ask("flows.list", json!({})).await.unwrap();
    let flow = &flows["flows"][0];
    assert_eq!(flows["total"], 1);
    assert_eq!(
        (&flow["state"], &flow["kind"], &flow["host"]),
        (&"open".into(), &"tls".into(), &"a.example".into())
    );
    assert_eq!(
        (&flow["dialled"], &flow["original"]),
        (&"203.0.113.1:443".into(), &"198.51.100.1:443".into())
    );
    assert_eq!((&flow["bytes_up"], &flow["rule"]), (&hello.len().into(), &"a.example".into()));
    let switched = client.ask("phase.set", json!({"name": "lockdown"})).await.unwrap();
    let host = json!({"host": "a.example", "port": 443, "kind": "tls", "flows": 1});
    assert_eq!(switched["cut"], json!({"total": 1, "hosts": [host]}));
    office.close().await;
}

/// Refusals come with the entry that would permit them; an address that stands for a name is called by it.
#[tokio::test]
async fn denials() {
    let office = Office::open().await;
    let lease = office.world.lease("git.example");
    for phase in ["narrow", "agent"] {
        office.world.exchange(&format!("{lease}:80"), b"SSH-2.0-x\r\n").await;
        office.world.switch(phase).await;
    }
    let mut client = office.client().await;
    let denials = client.ask("denials.summary", json!({})).await.unwrap();
    let of = |reason: &str| {
        let all = denials["denials"].as_array().unwrap();
        all.iter().find(|denial| denial["reason"] == reason).unwrap_or_else(|| panic!("{denials}")).clone()
    };
    let raw = of("not-tls-or-http");
    assert_eq!((&raw["host"], &raw["entry"]), (&"git.example".into(), &"tcp://git.example:80".into()));
    assert_eq!(raw["concerns"][0]["id"], "channel-raw-tcp");
    office.close().await;
}

/// Bad input is told what it is, changes nothing, and leaves the connection usable.
#[tokio::test]
async fn bad_input() {
    let office = Office::open().await;
    let mut client = office.client().await;
    let long =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"status","params":{{"x":"{}"}}}}"#, "x".repeat(70_000));
    let huge = "x".repeat(3 * LONGEST);
    for (line, code, word) in [
        ("nonsense", -32700, "parse-error"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1", -32700, "parse-error"),
        ("[]", -32600, "batch-not-served"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no\"}", -32601, "unknown-method"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"phase.set\"}", -32602, "invalid-params"),
        (&long, -32600, "line-too-long"),
        (&huge, -32600, "line-too-long"),
    ] {
        client.say(format!("{line}\n").as_bytes()).await;
        let answer = client.hear().await;
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["word"]),
            (&code.into(), &word.into()),
            "{answer}"
        );
    }
    for (method, params, code, word) in [
        ("phase.set", json!({"name": "nowhere"}), -32002, "unknown-phase"),
        ("policy.set", json!({"policy": "schema = 1"}), -32004, "invalid-policy"),
        ("policy.set", json!({"policy": "schema = 1\nphase.other.allow = []"}), -32005, "phase-missing"),
    ] {
        let error = client.ask(method, params).await.unwrap_err();
        assert_eq!((&error["code"], &error["data"]["word"]), (&code.into(), &word.into()), "{error}");
    }
    let status = client.ask("status", json!({})).await.unwrap();
    assert_eq!((&status["phase"], &status["epoch"]), (&"agent".into(), &1.into()));
    office.close().await;
}

/// A policy as large as a line may be is read; requests in one write are answered in their order; a notification is done
/// and not answered.
#[tokio::test]
async fn forms_of_asking() {
    let office = Office::open().await;
    let mut client = office.client().await;
    let comment = "#".repeat(900_000);
    let policy = format!("schema = 1\nphase.agent.allow = []\n{comment}");
    client.ask("policy.set", json!({ "policy": policy })).await.unwrap();
    client
        .say(
            b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"health\"}\n\
              {\"jsonrpc\":\"2.0\",\"method\":\"phase.set\",\"params\":{\"name\":\"lockdown\"}}\n\
              {\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"phase.get\"}\n",
        )
        .await;
    assert_eq!(client.hear().await["id"], "a");
    let phase = client.hear().await;
    assert_eq!((&phase["id"], &phase["result"]["name"]), (&Value::Null, &"lockdown".into()));
    office.close().await;
}

/// A client that ends its own side still gets its answers, the last line with or without an end.
#[tokio::test]
async fn half_close() {
    let office = Office::open().await;
    let mut client = office.client().await;
    client.say(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"health\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"health\"}").await;
    client.0.get_mut().shutdown().await.unwrap();
    assert_eq!(client.hear().await["id"], 1);
    assert_eq!(client.hear().await["id"], 2);
    client.ends().await;
    let mut cut_off = office.client().await;
    cut_off.say(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"phase.set\",\"par").await;
    cut_off.0.get_mut().shutdown().await.unwrap();
    assert_eq!(cut_off.hear().await["error"]["data"]["word"], "parse-error");
    office.close().await;
}

/// G10: a process of another user is told no, and nothing else.
#[tokio::test]
async fn another_user() {
    let office = Office::owned_by(nix::unistd::getuid().as_raw() + 1).await;
    if !nix::unistd::getuid().is_root() {
        let mut client = office.client().await;
        client.say(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}\n").await;
        assert_eq!(client.hear().await["error"]["data"]["word"], "not-permitted");
    }
    office.close().await;
}

/// The log is followed from where it was asked for: what is past first, then what comes, each record once.
#[tokio::test]
async fn following() {
    let office = Office::open().await;
    office.refuse(3).await;
    let mut client = office.client().await;
    let told = client.ask("log.follow", json!({"last": 2})).await.unwrap();
    assert_eq!(told, json!({"past": 2, "following": true}));
    office.refuse(2).await;
    for id in 2..=5 {
        let notice = client.hear().await;
        assert_eq!((&notice["method"], &notice["params"]["id"]), (&"log.record".into(), &id.into()));
        assert_eq!(notice["params"]["reason"], "not-tls-or-http");
    }
    let error = client.ask("log.follow", json!({})).await.unwrap_err();
    assert_eq!(error["data"]["word"], "already-following");
    assert!(client.ask("health", json!({})).await.is_ok(), "a follower may ask on");
    let mut other = office.client().await;
    let told = other.ask("log.follow", json!({"last": 9, "follow": false})).await.unwrap();
    assert_eq!(told, json!({"past": 5, "following": false}));
    office.close().await;
}

/// G16: a follower that does not read misses records, is told how many, and holds up neither the task nor others.
#[tokio::test]
async fn a_follower_that_sleeps() {
    let office = Office::open().await;
    let mut sleeper = office.client().await;
    sleeper.ask("log.follow", json!({})).await.unwrap();
    let (outer, phase) = (office.world.outer(), office.world.ruling.now());
    let mut written = 0;
    let filled = 20_000;
    while written < filled {
        outer.log.open(phase.clone()).await.unwrap().allow();
        written += 1;
        if written % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    // The log is written to its end only when nobody can add to it.
    drop(outer);
    let mut other = office.client().await;
    assert!(other.ask("health", json!({})).await.is_ok());
    let (mut received, mut missed) = (0, 0);
    while received + missed < filled {
        let notice = sleeper.hear().await;
        match notice["method"].as_str().unwrap() {
            "log.record" => received += 1,
            _ => missed += notice["params"]["records"].as_u64().unwrap(),
        }
    }
    assert_eq!(received + missed, filled);
    assert!(missed > 0 && received > 0, "{received} received, {missed} missed");
    office.close().await;
}

/// G16: clients that say half a line, do not take their answers, or only sit there: the next one is answered all the
/// same, however many they are.
#[tokio::test]
async fn hostile_clients() {
    let office = Office::open().await;
    let mut hostile = Vec::new();
    for number in 0..200 {
        let mut client = office.client().await;
        match number % 3 {
            0 => client.say(b"{\"jsonrpc\":").await,
            1 => {
                // As many requests as fit into the socket, none of whose answers is read.
                let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\n".repeat(100);
                let write = client.0.get_mut().write_all(&request);
                let _ = tokio::time::timeout(Duration::from_millis(20), write).await;
            }
            _ => {}
        }
        hostile.push(client);
        let mut honest = office.client().await;
        assert!(honest.ask("health", json!({})).await.is_ok(), "client {number}");
    }
    let mut honest = office.client().await;
    let switched = honest.ask("phase.set", json!({"name": "lockdown"})).await.unwrap();
    assert_eq!(switched["phase"], "lockdown");
    office.close().await;
}

/// Several clients switch at once: each switch has its own epoch, and what the last one said holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_at_once() {
    let office = Office::open().await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..20 {
        let mut client = office.client().await;
        tasks.spawn(async move {
            let phase = if number % 2 == 0 { "agent" } else { "narrow" };
            let mut epochs = Vec::new();
            for _ in 0..10 {
                let switched = client.ask("phase.set", json!({"name": phase, "widen": true})).await.unwrap();
                assert_eq!(switched["phase"], phase);
                epochs.push(switched["epoch"].as_u64().unwrap());
            }
            epochs
        });
    }
    let mut epochs: Vec<u64> = tasks.join_all().await.concat();
    epochs.sort_unstable();
    assert_eq!(epochs, (2..=201).collect::<Vec<_>>());
    office.close().await;
}

/// The end is answered before it comes.
#[tokio::test]
async fn shutdown() {
    let office = Office::open().await;
    let mut client = office.client().await;
    assert_eq!(client.ask("shutdown", json!({})).await, Ok(json!({})));
    // Connections of the task are refused from then on.
    while !office.world.is_closed().await {
        tokio::task::yield_now().await;
    }
    office.close().await;
}
