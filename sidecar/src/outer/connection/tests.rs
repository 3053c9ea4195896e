use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::outer::testing::hello::hello;
use crate::outer::testing::{World, drain, echo};

const POLICY: &str = r#"
    schema = 1
    [phase.agent]
    allow = ["api.example.com", "tcp://git.example.com:22", "10.9.0.0/16"]
    [phase.other]
    allow = ["other.example.com"]
"#;

const NAMES: &[(&str, &[&str])] = &[
    ("api.example.com", &["203.0.113.10"]),
    ("git.example.com", &["203.0.113.22"]),
    ("other.example.com", &["203.0.113.30"]),
];

async fn world() -> World {
    World::new(POLICY, NAMES).await
}

/// G3: the bytes reach the server of the permitted name, all of them and nothing else, wherever the client aimed.
#[tokio::test]
async fn the_name_decides() {
    let world = world().await;
    world.server("203.0.113.10:443", echo).await;
    let hello = hello(Some("api.example.com"));
    let mut client = world.connect("198.51.100.66:443").await;
    client.write_all(&hello).await.unwrap();
    let mut back = vec![0; hello.len()];
    client.read_exact(&mut back).await.unwrap();
    assert_eq!(back, hello);
    client.write_all(b"more").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(drain(&mut client).await, (b"more".to_vec(), false));
    assert_eq!(world.dialled(), ["203.0.113.10:443"]);
    let line = world.end_with_one().await;
    assert_eq!(line["verdict"], "allow");
    assert_eq!(line["kind"], "tls");
    assert_eq!(line["name"], "api.example.com");
    assert_eq!(line["original"], "198.51.100.66:443");
    assert_eq!(line["dialled"], "203.0.113.10:443");
    assert_eq!(line["bytes_up"], hello.len() + 4);
    assert_eq!(line["bytes_down"], hello.len() + 4);
    assert_eq!(line["rule"], "api.example.com");
    assert_eq!(line["reason"], serde_json::Value::Null);
}

/// G1, G11: another name is refused by a TLS alert, in the version that the client spoke, and nothing is dialled.
#[tokio::test]
async fn another_name_is_denied_by_an_alert() {
    let world = world().await;
    let (answer, reset) = world.exchange("203.0.113.10:443", &hello(Some("evil.example.com"))).await;
    assert_eq!(answer, [21, 3, 1, 0, 2, 2, 49]);
    assert!(!reset);
    assert!(world.dialled().is_empty());
    assert!(world.names.asked().is_empty(), "nobody is asked for a name that is not permitted");
    let line = world.end_with_one().await;
    assert_eq!((line["verdict"].as_str(), line["reason"].as_str()), (Some("deny"), Some("name-not-allowed")));
    assert_eq!(line["name"], "evil.example.com");
}
