use super::*;

#[test]
fn hosts_are_parsed() {
    let of = |text: &str| urls(text).map(|url| url.host()).collect::<Vec<_>>();
    assert_eq!(of("see https://User@Example.COM:8443/a?b#c, ok"), [Some("example.com".to_owned())]);
    assert_eq!(of("http://[2001:db8::1]:80/x"), [Some("2001:db8::1".to_owned())]);
    assert_eq!(of("git+https://github.com/a/b.git"), [Some("github.com".to_owned())]);
    assert_eq!(of("https://$HOST/x file:///etc/x data://x"), [None]);
    assert_eq!(of("\"https://\" + h"), []);
    assert_eq!(of("xhttps://a.b"), [Some("a.b".to_owned())]);
}

#[test]
fn this_machine_is_no_network() {
    for here in ["localhost", "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "x.localhost", "::ffff:127.0.0.1"] {
        assert!(is_here(here), "{here}");
    }
    for away in ["localhost.evil.example", "10.0.0.1", "128.0.0.1", "example.com"] {
        assert!(!is_here(away), "{away}");
    }
    assert_eq!(outside("http://localhost:8000/x http://[::1]/").count(), 0);
}

#[test]
fn bare_hosts() {
    assert_eq!(bare("git@github.com:a/b.git").as_deref(), Some("github.com"));
    assert_eq!(bare("example.com/x").as_deref(), Some("example.com"));
    assert_eq!(bare("[::1]:80").as_deref(), Some("::1"));
    assert!(looks_like_host("example.com/data.csv"));
    assert!(!looks_like_host("data.csv"));
    assert!(!looks_like_host("./a/b"));
    assert!(is_code_host("raw.githubusercontent.com"));
    assert!(!is_code_host("notgithub.com"));
}
