use crate::Table;

const TABLE: &str = r#"schema = 1
version = 3
date = "2026-11-30"
judge = "p"
[sources.s]
title = "a source"
date = "2026-11-30"
[providers.p]
title = "P"
key = "P_KEY"
hosts = ["api.p.example"]
[agents.a]
title = "A"
status = "supported"
program = "a"
package = "npm:a"
version = "1.2.3"
preinstalled = true
sources = ["s"]
auth.api = { providers = ["p"], verified = true }
"#;

#[test]
fn a_small_table_is_read() {
    let table = Table::from_toml(TABLE).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!((table.version(), table.rows().count()), (3, 1));
}

/// The schema is strict: every fault is found, and says where.
#[test]
fn faults_name_their_place() {
    for (from, to, expected) in [
        ("schema = 1", "schema = 2", "schema 2 is not known to this version, which reads schema 1"),
        ("version = 3", "version = 0", "version: a table's version is 1 or more"),
        ("version = 3", "version = -1", "line 2, column 11: "),
        ("version = 3", "version = \"3\"", "line 2, column 11: "),
        ("judge = \"p\"", "judge = \"q\"", "judge: there is no provider \"q\""),
        ("judge = \"p\"", "judge = \"p\"\njugde = 1", "line 5, column 1: unknown field `jugde`"),
        ("preinstalled", "preinstaled", "line 18, column 1: unknown field `preinstaled`"),
        ("2026-11-30\"\njudge", "30.11.2026\"\njudge", "date: a date is written 2026-11-30"),
        ("\"api.p.example\"", "\"*.p.example\"", "line 11, column 9: "),
        ("\"api.p.example\"", "\"api.p.example:8443\"", "line 11, column 9: "),
        ("\"api.p.example\"", "\"192.0.2.1\"", "line 11, column 9: "),
        ("\"api.p.example\"", "\"API.p.example\"", "line 11, column 9: "),
        ("\"api.p.example\"", "\"https://api.p.example\"", "line 11, column 9: "),
        ("\"api.p.example\"", "", "providers.p.hosts: a provider has a host"),
        ("version = \"1.2.3\"", "version = \"latest\"", "agents.a.version: one exact version, such as 1.2.3"),
        ("version = \"1.2.3\"", "version = \">=1.2\"", "agents.a.version: one exact version, such as 1.2.3"),
        ("sources = [\"s\"]", "sources = [\"t\"]", "agents.a.sources: there is no source \"t\""),
        ("sources = [\"s\"]", "sources = []", "agents.a.sources: a row names the sources of its facts"),
        ("[agents.a]", "[agents.A]", "agents.A: an agent's name has lower-case letters"),
        ("providers = [\"p\"]", "providers = [\"q\"]", "agents.a.auth.api: there is no provider \"q\""),
        ("providers = [\"p\"]", "providers = []", "agents.a.auth.api: it names at least one provider"),
        (
            "verified = true",
            "verified = false",
            "agents.a.auth.api: what is not verified says in `note` what is not known",
        ),
        ("auth.api", "auth.key", "line 20, column 6: unknown variant `key`"),
        ("auth.api", "auth.subscription", "agents.a.auth.subscription: a subscription names its hosts"),
        (
            "\"supported\"",
            "\"refused\"",
            "agents.a.status: a refused row has a reason, and neither version nor hosts",
        ),
        ("\"supported\"", "\"conditional\"", "agents.a.condition: missing"),
        ("\"supported\"", "\"maybe\"", "line 14, column 10: unknown variant `maybe`"),
    ] {
        assert!(TABLE.contains(from), "{from}");
        let found = match Table::from_toml(&TABLE.replacen(from, to, 1)) {
            Ok(_) => panic!("{to} is no fault"),
            Err(fault) => fault.to_string(),
        };
        assert!(found.starts_with(expected), "{to}: {found}");
    }
    let twice = TABLE.replace("sources = [\"s\"]", "sources = [\"t\"]").replace("1.2.3", "x");
    let faults = Table::from_toml(&twice).unwrap_err().faults().count();
    assert!(faults >= 2, "{faults}");
}

/// G15: a web tool that nothing switches off keeps a row from being plainly supported.
#[test]
fn a_tool_without_a_switch_is_not_supported() {
    let tool = |switches: &str| {
        format!(
            "{TABLE}[[agents.a.tools]]\nname = \"search\"\nruns = \"provider\"\ndoes = \"x\"\nverified = \"x\"\nswitches = [{switches}]\n"
        )
    };
    assert!(Table::from_toml(&tool(r#"{ flag = "--no-search" }"#)).is_ok());
    for (switches, expected) in [
        ("", "agents.a.tools: a web tool without a switch: the row can't be `supported`"),
        (r#"{ flag = "no-search" }"#, "a switch is one of: flag = \"--...\"; file and key; env"),
        (r#"{ flag = "--x", env = "X", value = "1" }"#, "a switch is one of: "),
        (r#"{ env = "X" }"#, "a variable needs a value, which is a string"),
        (r#"{ env = "X", value = 1 }"#, "a variable needs a value, which is a string"),
        (r#"{ file = "~/.a", value = true }"#, "a switch is one of: "),
        (r#"{ file = "~/.a", key = "k" }"#, "a key of a file needs a value"),
        (
            r#"{ file = "relative", key = "k", value = 1 }"#,
            "agents.a.switches: a switch's file is absolute or below ~/",
        ),
        (r#"{ flag = "--x", wert = 1 }"#, "unknown field `wert`"),
    ] {
        let found = Table::from_toml(&tool(switches)).unwrap_err().to_string();
        assert!(found.contains(expected), "{switches}: {found}");
    }
}

/// G16: no text, however strange, does more than be refused.
#[test]
fn hostile_tables_are_refused() {
    for text in ["", "\u{0}", "[", "agents = 1", "schema = 99999999999999999999", "[[agents]]"] {
        assert!(Table::from_toml(text).is_err(), "{text:?}");
    }
    assert!(Table::from_toml(&"#".repeat(2 << 20)).unwrap_err().to_string().contains("1 MiB"));
    assert!(Table::from_toml(&format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000))).is_err());
}
