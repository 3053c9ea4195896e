//! Names as clients ask for them: every question to whatever server is answered here, and asking sends nothing.

use crate::run;
use crate::support::{Mode, Outcome, modes};

fn questions(mode: Mode, more: &[&str], program: &str) -> Outcome {
    let run = more.iter().fold(run(mode), |run, entry| run.allow(entry));
    run.python(&[include_str!("programs/dns.py"), program].concat()).must_succeed()
}

/// G1, G9: an allowed name has an address and nothing else; another one does not exist, whatever is asked of it. None
/// of the questions arrives anywhere.
#[test]
fn names_and_types() {
    for &mode in modes() {
        let mut run =
            questions(mode, &["pypi.org", "*.pythonhosted.org"], include_str!("programs/dns_types.py"))
                .must_print("A allowed: NOERROR 198.18.0.1\n")
                .must_print("case: NOERROR 198.18.0.1\n")
                .must_print("below: NXDOMAIN +SOA\n")
                .must_print("above: NXDOMAIN +SOA\n")
                .must_print("reverse: NXDOMAIN +SOA\n")
                .must_print("second: NOERROR 198.18.0.2\n")
                .must_print("wild: NOERROR 198.18.0.3\n")
                .must_print("wild suffix: NXDOMAIN +SOA\n");
        let types = ["NS", "CNAME", "SOA", "PTR", "MX", "TXT", "AAAA", "SRV", "SVCB", "HTTPS", "ANY"];
        for kind in types {
            run = run.must_print(&format!("\n{kind} allowed: NOERROR +SOA\n"));
        }
        for kind in types.iter().chain(&["A"]) {
            run = run.must_print(&format!("{kind} other: NXDOMAIN +SOA EDE 15\n"));
        }
        assert_eq!(run.of_kind("dns").len(), 31, "one record a question: {run:#?}");
        for name in ["anthropic", "n0nce", "example", "python", "pypi", "arpa"] {
            assert!(!run.arrived(name), "{name} arrived: {run:#?}");
        }
    }
}

/// G9: over UDP and TCP, IPv4 and IPv6, with EDNS and without, whichever server is asked, the lab's own included.
#[test]
fn servers_and_transports() {
    for &mode in modes() {
        let run = questions(mode, &[], include_str!("programs/dns_servers.py"));
        let lines: Vec<_> = run.stdout.lines().collect();
        assert_eq!(lines.len(), 24, "{run:#?}");
        for line in lines {
            let refusal = if line.contains(" edns ") { "NXDOMAIN +SOA EDE 15" } else { "NXDOMAIN +SOA" };
            assert!(line.ends_with(&format!("| NOERROR 198.18.0.1 | {refusal}")), "{line}: {run:#?}");
        }
        let run = run.must_not_arrive("n0nce").must_not_arrive("anthropic");
        assert_eq!(run.records("deny", "dns-name"), 24, "{run:#?}");
    }
}

/// G11, G12: what the C library makes of it.
#[test]
fn getent() {
    for &mode in modes() {
        run(mode)
            .script(
                "getent ahosts api.anthropic.com || exit 1
                 getent hosts api.anthropic.com || exit 1
                 getent ahosts example.com; echo \"code $?\"
                 getent hosts 198.51.100.7; echo \"code $?\"",
            )
            .must_succeed()
            .must_print("198.18.0.1      STREAM api.anthropic.com\n")
            .must_print("198.18.0.1      api.anthropic.com\n")
            .must_print("code 2\ncode 2\n")
            .must_complain("2 attempts refused: example.com (dns-name, 2 times)")
            .must_not_arrive("example.com");
    }
}

/// G9: with `dns.answers = "real"` the addresses are the lab's own; names that are not allowed are still not asked for.
#[test]
fn real_answers() {
    for &mode in modes() {
        let run = crate::Run::in_lab(mode);
        let run = crate::with_policy(
            run,
            "schema = 1
             [phase.agent]
             allow = ['api.anthropic.com']
             [dns]
             answers = 'real'",
        );
        run.script(
            "getent ahostsv4 api.anthropic.com || exit 1
             getent ahostsv4 example.com && exit 1
             curl -sS --fail https://api.anthropic.com/",
        )
        .must_succeed()
        .must_print("198.51.100.1    STREAM api.anthropic.com\n")
        .must_print(r#"{"host":"api.anthropic.com""#)
        .must_not_arrive("example.com");
    }
}
