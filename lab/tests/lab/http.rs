use std::process::Command;

use closedbook_lab::load::{Exchange, Http};
use closedbook_lab::{Kind, ca_environment};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::bulk;
use crate::client::{Answer, answer, ask, get, head, https, line, tcp, timed, tls, tls_config, v4};
use crate::harness::Guest;

pub(crate) async fn the_report_says_what_the_server_saw(guest: Guest) {
    let mut stream = https(&guest.ca(), "api.openai.com").await;
    let request = "GET /v1/files?x=1 HTTP/1.1\r\nHost: api.openai.com\r\nX-Twice: a\r\nX-Twice: b\r\n\r\n";
    let report = ask(&mut stream, request).await.json();
    for (field, value) in [
        ("host", "api.openai.com"),
        ("sni", "api.openai.com"),
        ("path", "/v1/files"),
        ("method", "GET"),
        ("scheme", "https"),
        ("version", "HTTP/1.1"),
        ("alpn", "http/1.1"),
    ] {
        assert_eq!(report[field], value, "{field}");
    }
    assert_eq!(report["local"], format!("{}:443", v4("api.openai.com")));
    assert_eq!(report["headers"][1], serde_json::json!(["x-twice", "a"]));
    assert_eq!(report["headers"][2], serde_json::json!(["x-twice", "b"]));
    // The connection is kept, and the next request may name another host: the server does not mind, and says so.
    let other = ask(&mut stream, "POST / HTTP/1.1\r\nhost: example.com\r\ncontent-length: 2\r\n\r\nhi").await;
    assert_eq!(
        (other.header("x-lab-host"), other.header("x-lab-sni")),
        (Some("example.com"), Some("api.openai.com"))
    );
    assert_eq!(get("pypi.org", "/").await.json()["scheme"], "http");
}

pub(crate) async fn a_nonce_is_answered_with_its_proof(guest: Guest) {
    let proof = |nonce: &str| guest.control().ask(&format!("proof {nonce}")).unwrap();
    for (path, header, nonce) in [
        ("/?nonce=in-query", "", "in-query"),
        ("/N0NCE-path/x", "", "N0NCE-path"),
        ("/", "x-nonce: in-header\r\n", "in-header"),
        ("/", "cookie: a=N0NCE-cookie; b\r\n", "N0NCE-cookie"),
    ] {
        let mut stream = tcp((v4("example.com"), 80)).await;
        let request = format!("GET {path} HTTP/1.1\r\nhost: example.com\r\n{header}\r\n");
        let answer = ask(&mut stream, &request).await;
        assert_eq!(answer.header("x-lab-nonce"), Some(nonce));
        assert_eq!(answer.header("x-lab-proof"), proof(nonce).as_str());
        let seen = guest.arrivals(nonce);
        let seen = seen.iter().find(|one| one.proto == Kind::Http).unwrap();
        assert_eq!((seen.name.as_deref(), seen.nonce.as_deref()), (Some("example.com"), Some(nonce)));
    }
}

/// G12: pipelining.
pub(crate) async fn five_pipelined_requests_are_answered_in_order(_: Guest) {
    let mut stream = tcp((v4("example.com"), 80)).await;
    let requests: String =
        (0..5).map(|turn| format!("GET /{turn} HTTP/1.1\r\nhost: example.com\r\n\r\n")).collect();
    stream.write_all(requests.as_bytes()).await.unwrap();
    for turn in 0..5 {
        assert_eq!(answer(&mut stream).await.json()["path"], format!("/{turn}"));
    }
}

/// G12: half-close by the client.
pub(crate) async fn a_client_that_closed_its_side_is_answered(guest: Guest) {
    let mut stream = tcp((v4("example.com"), 80)).await;
    stream.write_all(b"GET /slow-head/0.1 HTTP/1.1\r\nhost: example.com\r\n\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(answer(&mut stream).await.text(), "at last\n");
    let mut stream = https(&guest.ca(), "example.com").await;
    stream.write_all(b"GET /slow-head/0.1 HTTP/1.1\r\nhost: example.com\r\n\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(answer(&mut stream).await.text(), "at last\n");
}

pub(crate) async fn every_port_speaks_every_protocol(guest: Guest) {
    for port in [80, 443, 8080, 8443, 853, 3128, 9418, 65535] {
        let mut stream = tcp((v4("example.com"), port)).await;
        let plain = ask(&mut stream, "GET / HTTP/1.1\r\nhost: example.com\r\n\r\n").await;
        assert_eq!(plain.json()["scheme"], "http", "{port}");
        let config = tls_config(&guest.ca(), rustls::ALL_VERSIONS, &[]);
        let mut stream = tls(config.clone(), "example.com", port).await.unwrap();
        let inside = ask(&mut stream, "GET / HTTP/1.1\r\nhost: example.com\r\n\r\n").await;
        assert_eq!(inside.json()["scheme"], "https", "{port}");
        // Neither, inside TLS.
        let mut stream = tls(config, "example.com", port).await.unwrap();
        stream.write_all(b"N0NCE-1 raw").await.unwrap();
        assert!(line(&mut stream).await.starts_with("LAB-WITNESS N0NCE-1 "), "{port}");
    }
    let two = bulk::run(&guest, "http://example.com/", Exchange::Get, Http::Two, 2).await;
    assert!(two.is_clean(), "HTTP/2 in the clear, with prior knowledge: {two:?}");
}

pub(crate) async fn bodies_come_back(_: Guest) {
    let mut stream = tcp((v4("example.com"), 80)).await;
    let request = "POST /echo HTTP/1.1\r\nhost: example.com\r\ncontent-type: a/b\r\ntransfer-encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let back = ask(&mut stream, request).await;
    assert_eq!((back.text(), back.header("content-type")), ("abcde", Some("a/b")));
    let receipt =
        ask(&mut stream, "PUT /upload HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc").await.json();
    // FIPS 180-2, appendix B.1.
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!((receipt["bytes"].as_u64(), receipt["sha256"].as_str()), (Some(3), Some(hash)));
    assert_eq!(get("example.com", "/drip/30/0").await.text(), "abcdefghijklmnopqrstuvwxyzabcd");
    let events = get("example.com", "/sse/2").await;
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
    assert_eq!(
        events.text(),
        "id: 0\ndata: {\"turn\":0}\n\nid: 1\ndata: {\"turn\":1}\n\nevent: done\ndata: {}\n\n"
    );
}

pub(crate) async fn statuses_and_redirections(_: Guest) {
    for code in [200, 404, 418, 503, 599] {
        assert_eq!(get("example.com", &format!("/status/{code}")).await.status, code);
    }
    for wrong in ["/status/99", "/status/101", "/status/x", "/bytes/x", "/silent/x", "/drip/1", "/redirect"] {
        let status = get("example.com", wrong).await.status;
        assert!(status == 400 || (wrong == "/drip/1" && status == 200), "{wrong}: {status}");
    }
    let moved = get("example.com", "/redirect?to=https%3A%2F%2Fgithub.com%2F%3Fa%3Db").await;
    assert_eq!((moved.status, moved.header("location")), (302, Some("https://github.com/?a=b")));
    let mut stream = tcp((v4("example.com"), 3128)).await;
    let refused = ask(&mut stream, "CONNECT github.com:443 HTTP/1.1\r\nhost: github.com:443\r\n\r\n").await;
    assert_eq!(refused.status, 501);
}

pub(crate) async fn the_model_answers_at_once_and_in_a_stream(guest: Guest) {
    let mut stream = https(&guest.ca(), "api.anthropic.com").await;
    let mut say = async |body: &str| -> Answer {
        let length = body.len();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: api.anthropic.com\r\ncontent-length: {length}\r\n\r\n"
        );
        ask(&mut stream, &(head + body)).await
    };
    let whole = say(r#"{"model":"m","messages":[]}"#).await.json();
    assert_eq!(
        (whole["model"].as_str(), whole["content"][0]["text"].as_str()),
        (Some("m"), Some("Hello from the lab."))
    );
    let streamed = say(r#"{"model":"m","stream":true}"#).await;
    let names: Vec<&str> = streamed.text().lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(names.first().copied(), Some("message_start"));
    assert_eq!(names.last().copied(), Some("message_stop"));
    assert_eq!(say("not json").await.status, 200);
}

pub(crate) async fn faults_are_switched_on_and_off_by_host(guest: Guest) {
    guest.fault("api.x.ai", "status=503");
    assert_eq!(get("api.x.ai", "/").await.status, 503);
    assert_eq!(get("pypi.org", "/").await.status, 200);
    guest.fault("api.x.ai", "reset");
    let mut stream = tcp((v4("api.x.ai"), 80)).await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: api.x.ai\r\n\r\n").await.unwrap();
    let error = timed(stream.read(&mut [0; 100])).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    guest.fault("api.x.ai", "half-close");
    assert_eq!(get("api.x.ai", "/").await.header("connection"), Some("close"));
    guest.fault("api.x.ai", "huge");
    let mut stream = tcp((v4("api.x.ai"), 80)).await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: api.x.ai\r\n\r\n").await.unwrap();
    assert!(head(&mut stream).await.contains("content-length: 1073741824"));
    guest.fault("api.x.ai", "off");
    assert_eq!(get("api.x.ai", "/").await.status, 200);
    assert!(guest.control().ask("fault api.x.ai nonsense").is_err());
    assert!(guest.control().ask("nonsense").is_err());
}

pub(crate) async fn git_clones_over_https(guest: Guest) {
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let output = Command::new("git")
        .args(["clone", "--quiet", "https://github.com/demo.git"])
        .arg(&clone)
        .envs(ca_environment(&guest.ca()))
        .env("HOME", folder.path())
        .output()
        .expect("git is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(clone.join("README")).unwrap().contains("cloning works"));
}
