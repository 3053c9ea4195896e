use proptest::prelude::*;

use super::*;
use crate::{DnsAnswers, Ech, Entry, PhaseName, PrivateAddresses};

const FULL: &str = r#"
    schema = 1
    name = "claude-code"
    [phase.setup]
    allow = ["registry.npmjs.org", "api.anthropic.com", "*.ubuntu.com:80,443"]
    [phase.agent]
    allow = ["API.anthropic.com."]
    [route]
    "api.anthropic.com" = "10.0.0.5:8443"
    [tls]
    ech = "refuse"
    [resolve]
    private = "allow"
    [dns]
    answers = "real"
"#;

/// Every fault of a document, one a line.
fn faults(outcome: Result<Policy, InvalidPolicy>) -> String {
    let lines: Vec<String> = outcome.unwrap_err().faults().map(Fault::to_string).collect();
    lines.join("\n")
}

fn toml(source: &str) -> String {
    faults(Policy::from_toml(source))
}

fn json(source: &str) -> String {
    faults(Policy::from_json(source))
}

#[test]
fn every_field_is_read() {
    let policy = Policy::from_toml(FULL).unwrap();
    assert_eq!(policy.name(), Some("claude-code"));
    assert_eq!(policy.phases().map(|phase| phase.name()).collect::<Vec<_>>(), ["agent", "lockdown", "setup"]);
    let setup = policy.phase("setup").unwrap();
    assert_eq!(
        setup.entries().iter().map(Entry::as_str).collect::<Vec<_>>(),
        ["api.anthropic.com", "registry.npmjs.org", "*.ubuntu.com"]
    );
    assert_eq!(setup.policy(), policy.digest());
    let routes: Vec<String> = policy.routes().map(|(from, to)| format!("{from} -> {to}")).collect();
    assert_eq!(routes, ["api.anthropic.com -> 10.0.0.5:8443"]);
    assert_eq!(policy.ech(), Ech::Refuse);
    assert_eq!(policy.private_addresses(), PrivateAddresses::Allow);
    assert_eq!(policy.dns_answers(), DnsAnswers::Real);
}

/// G1: what a document does not say is refused, not allowed.
#[test]
fn defaults_are_the_strict_ones() {
    let policy = Policy::from_toml("schema = 1\nphase.agent.allow = []").unwrap();
    assert_eq!(policy.private_addresses(), PrivateAddresses::Refuse);
    assert_eq!(policy.dns_answers(), DnsAnswers::Synthetic);
    assert!(policy.phase("agent").unwrap().entries().is_empty());
    assert!(policy.phase("lockdown").unwrap().entries().is_empty());
    assert!(policy.phase("setup").is_none() && policy.phase("").is_none());
}

#[test]
fn faults_name_line_column_field_and_remedy() {
    for (source, expected) in [
        (
            "schema = 1\n[phase.agent]\nallow = [\n  'a.x',\n  'https://b.x',\n]",
            "line 5, column 3, phase.agent.allow[1]: \"https://b.x\": an entry is a host, not a URL: the scheme \"https\" does not belong; write \"b.x\"",
        ),
        (
            "schema = 1\r\nphase.a.allow=['\u{e4}\u{e4}.x', 'x y']\r\n",
            "line 2, column 24, phase.a.allow[1]: \"x y\": the entry holds blanks or control characters",
        ),
        (
            "schema = 1\n[phases.agent]\nallow = []\n",
            "line 2, column 2, phases: unknown key \"phases\"; did you mean \"phase\"?",
        ),
        (
            "schema = 1\n[phase.agent]\nalow = []\n",
            "line 3, column 1, phase.agent.alow: unknown key \"alow\"; did you mean \"allow\"?",
        ),
        (
            "schema = 1\nphase.a.allow=[]\nfirewall = 1",
            "line 3, column 1, firewall: unknown key \"firewall\"; known here: schema, name, phase, route, tls, resolve, dns",
        ),
        ("phase.a.allow=[]", "line 1, column 1, schema: missing; write schema = 1"),
        (
            "schema = 1",
            "line 1, column 1, phase: missing; write at least one phase: [phase.agent] with allow = [...]",
        ),
        (
            "schema = 1\n[phase]\n",
            "line 2, column 1, phase: the policy defines no phase; write [phase.agent] with allow = [...]",
        ),
        (
            "schema = 1\n[phase.agent]\n",
            "line 2, column 1, phase.agent.allow: missing; write allow = [...]; an empty list permits nothing",
        ),
        (
            "schema = '1'\nphase.a.allow=[]",
            "line 1, column 10, schema: this is a string; expected is the integer 1",
        ),
        (
            "schema = 99999999999999999999\nphase.a.allow=[]",
            "line 1, column 10, schema: this is a huge integer; expected is the integer 1",
        ),
        (
            "schema = 1\nphase.agent = ['a.b']",
            "line 2, column 15, phase.agent: this is a list; expected is a table with allow = [...]",
        ),
        (
            "schema = 1\nphase.agent.allow = 'a.b'",
            "line 2, column 21, phase.agent.allow: this is a string; expected is a list of entries, as in [\"api.example.com\"]",
        ),
        (
            "schema = 1\nphase.agent.allow = [3]",
            "line 2, column 22, phase.agent.allow[0]: this is an integer; expected is a string, as in \"api.example.com\"",
        ),
        (
            "schema = 1\nphase.lockdown.allow = []",
            "line 2, column 7, phase.lockdown: `lockdown` always exists and permits nothing; it can't be defined",
        ),
        (
            "schema = 1\nphase.Agent.allow = []",
            "line 2, column 7, phase.Agent: a phase name holds lower-case letters, digits and inner hyphens",
        ),
        (
            "schema = 1\nphase.\"a\\u001b\".allow=[]",
            "line 2, column 7, phase.\"a\\u{1b}\": a phase name holds lower-case letters, digits and inner hyphens",
        ),
        (
            "schema = 1\nname = \"\\u0007\"\nphase.a.allow=[]",
            "line 2, column 8, name: a policy name has 1 to 100 characters, none of them a control character",
        ),
        (
            "schema = 1\nphase.a.allow=[]\ntls.ech = 'ok'",
            "line 3, column 11, tls.ech: \"ok\" is not one of \"outer-name\", \"refuse\"; the default is \"outer-name\"",
        ),
        (
            "schema = 1\nphase.a.allow=[]\nresolve.privat = 'allow'",
            "line 3, column 9, resolve.privat: unknown key \"privat\"; did you mean \"private\"?",
        ),
        (
            "schema = 1\nphase.a.allow=[]\ndns = 'real'",
            "line 3, column 7, dns: this is a string; expected is a table of settings",
        ),
        (
            "schema = 1\nphase.a.allow=[]\nroute.'*.a.b' = 'c'",
            "line 3, column 7, route.\"*.a.b\": a route starts from one exact name, without wildcard or port",
        ),
        (
            "schema = 1\nphase.a.allow=[]\nroute.'a.b:443' = 'c'",
            "line 3, column 7, route.\"a.b:443\": a route starts from one exact name, without wildcard or port",
        ),
        (
            "schema = 1\nphase.a.allow=[]\nroute.'http://a.b' = 'c'",
            "line 3, column 7, route.\"http://a.b\": a route starts from one exact name: an entry is a host, not a URL: the scheme \"http\" does not belong",
        ),
        (
            "schema = 1\nphase.a.allow=[]\nroute.'A.x' = 'b'\nroute.'a.x' = 'c'",
            "line 4, column 7, route.\"a.x\": a second route from a.x",
        ),
        (
            "schema = 1\nphase.a.allow=[]\nroute.'a.x' = '127.0.0.1:80'",
            "line 3, column 15, route.\"a.x\": \"127.0.0.1:80\": the address is never dialled: loopback (RFC 1122 section 3.2.1.3)",
        ),
        ("schema = 1\nschema = 1", "line 2, column 1: the key \"schema\" stands here a second time"),
        (
            "schema = 1\nphase.a.allow=[]\n[phase.a]\nallow=[]",
            "line 3, column 8: the key \"a\" stands here a second time",
        ),
        ("schema = 1\n[phase.agent]\nallow = [", "line 3, column 10: unclosed array, expected `]`"),
    ] {
        assert_eq!(toml(source), expected, "{source:?}");
    }
}

#[test]
fn json_faults_name_the_same() {
    for (source, expected) in [
        (
            "{\"schema\":1,\n \"phase\":{\"a\":{\"allow\":[\"a.x\",\n  \"https://b.x\"]}}}",
            "line 3, column 3, phase.a.allow[1]: \"https://b.x\": an entry is a host, not a URL: the scheme \"https\" does not belong; write \"b.x\"",
        ),
        (
            "{\"schema\":1,\"phase\":{\"a\":{\"allow\":[null]}}}",
            "line 1, column 36, phase.a.allow[0]: this is null; expected is a string, as in \"api.example.com\"",
        ),
        (
            "{\"schema\":1.0,\"phase\":{\"a\":{\"allow\":[]}}}",
            "line 1, column 11, schema: this is a number that is not a small integer; expected is the integer 1",
        ),
        (
            "{\"phase\":{\"a\":{\"allow\":[]}},\"schema\":1,\n\"schema\":1}",
            "line 2, column 1: the key \"schema\" stands here a second time",
        ),
        (
            "{\"schema\":1,\"phase\":{\"a\":{\"allow\":[],\n \"a\\u006clow\":[]}}}",
            "line 2, column 2, phase.a: the key \"allow\" stands here a second time",
        ),
        ("{\"schema\":1} x", "line 1, column 14: trailing characters"),
        ("{\"schema\":1,\n", "line 2, column 1: EOF while parsing an object"),
        ("{\"schema\":1, \"name\": \"\\ud800\"}", "line 1, column 22: unexpected end of hex escape"),
        ("[]", "line 1, column 1: this is a list; expected is a table with schema = 1"),
        ("schema = 1", "line 1, column 1: expected value"),
    ] {
        assert_eq!(json(source), expected, "{source:?}");
    }
}

#[test]
fn all_faults_are_reported_in_the_order_of_the_file() {
    let source = "schema = 1\ncolour = 1\nphase.B.allow = ['*', '']\nroute.'a b' = 'c d'";
    let lines = toml(source);
    let places: Vec<&str> = lines.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(
        places,
        [
            "line 2, column 1, colour",
            "line 3, column 7, phase.B",
            "line 3, column 18, phase.B.allow[0]",
            "line 3, column 23, phase.B.allow[1]",
            "line 4, column 7, route.\"a b\"",
            "line 4, column 15, route.\"a b\"",
        ]
    );
    let summary = Policy::from_toml(source).unwrap_err().to_string();
    assert!(summary.starts_with("line 2, column 1, colour") && summary.ends_with("(and 5 other faults)"));
}

#[test]
fn another_schema_is_the_only_fault_reported() {
    let expected = "line 1, column 10, schema: schema 2 is not known to this version, which reads schema 1";
    assert_eq!(toml("schema = 2\nnew_field = 1"), expected);
}

#[test]
fn empty_and_huge() {
    for source in ["", "  \n", "\u{feff}\n"] {
        assert!(toml(source).contains("the policy is empty"));
        assert!(json(source).contains("the policy is empty"));
    }
    let huge = format!("schema = 1\nphase.a.allow = []\n# {}", "x".repeat(LONGEST));
    assert!(toml(&huge).contains("the limit is 1048576"));
}

/// G16: nesting does not exhaust the stack.
#[test]
fn deep_nesting_is_a_fault() {
    for depth in [20, 100, 100_000] {
        let nested = "[".repeat(depth) + &"]".repeat(depth);
        assert!(!toml(&format!("schema = 1\nphase.a.allow = {nested}")).is_empty());
        assert!(!json(&format!("{{\"schema\": 1, \"phase\": {nested}}}")).is_empty());
    }
}

#[test]
fn either_format_is_recognised() {
    let policy = Policy::from_text(FULL).unwrap();
    assert_eq!(Policy::from_text(policy.to_json()), Ok(policy.clone()));
    assert_eq!(Policy::from_text(&format!("\u{feff} \n{}", policy.to_json())), Ok(policy));
    assert!(Policy::from_text("{").unwrap_err().to_string().contains("EOF"));
}

/// G18: the digest is a fixed function of the meaning. A change of this value breaks every stored report.
#[test]
fn the_digest_is_fixed() {
    let policy = Policy::from_toml(FULL).unwrap();
    let expected = concat!(
        r#"{"dns":{"answers":"real"},"name":"claude-code","phase":{"agent":{"allow":["api.anthropic.com"]},"#,
        r#""setup":{"allow":["*.ubuntu.com","api.anthropic.com","registry.npmjs.org"]}},"resolve":{"private":"allow"},"#,
        r#""route":{"api.anthropic.com":"10.0.0.5:8443"},"schema":1,"tls":{"ech":"refuse"}}"#,
    );
    assert_eq!(policy.to_json(), expected);
    assert_eq!(
        policy.digest().to_string(),
        "c9d64e6121b98dbf150d8839cecb147fc67a1293a234eb7a690e660274f6bc74"
    );
}

#[test]
fn builders_and_documents_meet() {
    let agent = PhaseName::parse("agent").unwrap();
    let entries = ["a.example", "b.example:8443"].map(|text| Entry::parse(text).unwrap());
    let built = Policy::single(&agent, &entries);
    let read = Policy::from_toml("schema = 1\nphase.agent.allow = ['b.example:8443', 'a.example']").unwrap();
    assert_eq!(built, read);
    let grown = Policy::single(&agent, &entries[..1]).with_allowed(&agent, &entries[1..]);
    assert_eq!(grown.digest(), read.digest());
    let setup = PhaseName::parse("setup").unwrap();
    assert!(read.with_allowed(&setup, &entries).phase("setup").is_some());
}

fn entries() -> impl Strategy<Value = Vec<String>> {
    let host = prop_oneof![
        "[a-c]{1,2}\\.(x|y)",
        "\\*\\.[a-c]\\.(x|y)",
        Just("10.0.0.0/8".into()),
        Just("[2001:db8::1]".into())
    ];
    proptest::collection::vec(
        (host, "(:80|:443|:80,443|:443,80|)").prop_map(|(host, ports)| host + ports.as_str()),
        0..6,
    )
}

proptest! {
    /// G18: order, duplicates, case, format: no difference to the digest.
    #[test]
    fn spelling_does_not_change_the_digest(entries in entries(), seed: u64) {
        let one = serde_json::json!({"schema": 1, "phase": {"agent": {"allow": entries}}}).to_string();
        let mut other: Vec<String> = entries.iter().map(|entry| entry.to_uppercase()).collect();
        other.extend(entries.first().cloned());
        let turn = usize::try_from(seed % 97).unwrap() % other.len().max(1);
        other.rotate_left(turn);
        let other = format!("[phase.agent]\nallow = {other:?}");
        let one = Policy::from_json(&one).unwrap();
        let other = Policy::from_toml(&format!("schema = 1 # one\n{other}")).unwrap();
        prop_assert_eq!(one.digest(), other.digest());
        let again = Policy::from_json(one.to_json()).unwrap();
        prop_assert_eq!(again.to_json(), one.to_json());
    }

    /// G16: any text is read or refused.
    #[test]
    fn any_text(text: String) {
        for outcome in [Policy::from_toml(&text), Policy::from_json(&text), Policy::from_text(&text)] {
            if let Err(invalid) = outcome {
                prop_assert!(invalid.faults().all(|fault| fault.line > 0 && fault.column > 0));
            }
        }
    }

    /// G16: so is a document with one byte changed, and its faults stay printable on one line.
    #[test]
    fn nearly_a_policy(at in 0..FULL.len(), byte in 0u8..128) {
        let mut bytes = FULL.as_bytes().to_vec();
        bytes[at] = byte;
        let text = String::from_utf8(bytes).unwrap();
        let canonical = Policy::from_toml(&text).map(|policy| policy.to_json().to_owned());
        match canonical {
            Ok(json) => {
                let again = Policy::from_json(&json).unwrap();
                prop_assert_eq!(again.to_json(), json);
            }
            Err(invalid) => prop_assert!(invalid.faults().all(|fault| !fault.to_string().contains(['\n', '\x1b']))),
        }
    }
}
