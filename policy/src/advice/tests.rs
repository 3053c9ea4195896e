use super::*;

/// The concerns about one entry in a phase, as words.
fn about(phase: &str, entry: &str) -> Vec<&'static str> {
    let policy = Policy::from_toml(&format!("schema = 1\nphase.{phase}.allow = [{entry:?}]")).unwrap();
    policy.advice().into_iter().map(|advice| advice.concern.word()).collect()
}

#[test]
fn a_closed_book_has_no_advice() {
    for entry in
        ["api.anthropic.com", "bedrock-runtime.us-east-1.amazonaws.com", "203.0.113.0/24", "litellm:4000"]
    {
        assert!(about("agent", entry).is_empty(), "{entry}");
    }
    assert!(about("agent", "generativelanguage.googleapis.com").is_empty());
    assert!(about("agent", "ws://api.openai.com").is_empty());
    assert!(about("agent", "my-resource.openai.azure.com").is_empty());
}

#[test]
fn each_kind_of_wide_entry_is_named() {
    for (entry, expected) in [
        ("github.com", "channel-code-host"),
        ("raw.githubusercontent.com", "channel-code-host"),
        ("gist.github.com", "channel-code-host"),
        ("gitlab.com", "channel-code-host"),
        ("pypi.org", "channel-package-registry"),
        ("registry.npmjs.org", "channel-package-registry"),
        ("*.ubuntu.com", "channel-package-registry"),
        ("*.amazonaws.com", "channel-shared-storage"),
        ("*.s3.amazonaws.com", "channel-shared-storage"),
        ("bucket.s3.eu-west-1.amazonaws.com", "channel-shared-storage"),
        ("bucket.s3.amazonaws.com", "channel-shared-storage"),
        ("storage.googleapis.com", "channel-shared-storage"),
        ("*.googleapis.com", "channel-shared-storage"),
        ("*.blob.core.windows.net", "channel-shared-storage"),
        ("huggingface.co", "channel-shared-storage"),
        ("d111.cloudfront.net", "channel-cdn-wildcard"),
        ("*.workers.dev", "channel-cdn-wildcard"),
        ("*.pages.dev", "channel-cdn-wildcard"),
        ("*.vercel.app", "channel-cdn-wildcard"),
        ("abc.ngrok-free.app", "channel-cdn-wildcard"),
        ("sentry.io", "channel-telemetry"),
        ("translate.google.com", "channel-redirector"),
        ("webcache.googleusercontent.com", "channel-redirector"),
        ("web.archive.org", "channel-redirector"),
        ("dns.google", "channel-doh"),
        ("1.1.1.1", "channel-doh"),
        ("*.example.com", "channel-wildcard"),
        ("203.0.112.0/23", "channel-wide-block"),
        ("2001:db8::/48", "channel-wide-block"),
        ("api.example.com:*", "channel-any-port"),
        ("api.example.com:1-2000", "channel-any-port"),
        ("tcp://git.example.com:22", "channel-raw-tcp"),
    ] {
        assert_eq!(about("agent", entry), [expected], "{entry}");
    }
}

#[test]
fn a_host_that_only_looks_like_a_listed_one_is_not_named() {
    for entry in ["notgithub.com", "github.com.example.com", "mygithub.io", "s3.example.com"] {
        assert!(about("agent", entry).is_empty(), "{entry}");
    }
}

/// Installing needs registries and code hosts, and no agent runs yet.
#[test]
fn setup_may_fetch_packages_and_code() {
    assert!(about("setup", "pypi.org").is_empty() && about("setup", "github.com").is_empty());
    assert_eq!(about("setup", "*.workers.dev"), ["channel-cdn-wildcard"]);
    assert_eq!(about("verifier", "pypi.org"), ["channel-package-registry"]);
}

#[test]
fn what_lies_beside_the_entries() {
    let policy = Policy::from_toml(
        r#"
        schema = 1
        phase.setup.allow = ["pypi.org"]
        phase.agent.allow = ["api.example.com"]
        resolve.private = "allow"
        [route]
        "api.example.com" = "10.0.0.5"
        "ap1.example.com" = "10.0.0.5"
        "#,
    )
    .unwrap();
    let lines: Vec<String> = policy
        .advice()
        .iter()
        .map(|advice| format!("{} {} {}", advice.concern, advice.field, advice.subject))
        .collect();
    assert_eq!(
        lines,
        [
            "channel-wide-phase phase.agent api.example.com",
            "channel-private-network resolve.private allow",
            "route-unused route ap1.example.com",
        ]
    );
}

#[test]
fn words_are_distinct() {
    let words: std::collections::HashSet<&str> = Concern::ALL.iter().map(|concern| concern.word()).collect();
    assert_eq!(words.len(), Concern::ALL.len());
    assert!(Concern::ALL.iter().all(|concern| !concern.why().is_empty()));
}
