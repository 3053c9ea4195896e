//! Loading, rendering and reading back the packet rules, against the kernel and against nft.

use std::collections::HashSet;

use crate::world::{namespaced, succeeds};
use closedbook_kernel::nft::{
    Action, ApplyError, Mismatch, Name, Rule, Ruleset, SealedPorts, Step, VerifyError, apply, sealed, verify,
};

fn ruleset() -> Ruleset {
    sealed(&SealedPorts::default())
}

/// What `verify` finds after nft did something to the rules loaded.
fn found_after(tampering: &str) -> Vec<Mismatch> {
    apply(&ruleset()).unwrap();
    verify(&ruleset()).unwrap();
    succeeds("nft", &["-f", "-"], tampering);
    match verify(&ruleset()) {
        Err(VerifyError::Differs(mismatches)) => mismatches.0,
        other => panic!("{tampering}: {other:?}"),
    }
}

/// nft's own numbers for rules, looked up by comment.
fn handle(comment: &str) -> String {
    let listing = succeeds("nft", &["-a", "list", "table", "inet", "closedbook"], "");
    let line = listing.lines().find(|line| line.contains(&format!("\"{comment}\""))).unwrap();
    line.rsplit(' ').next().unwrap().to_owned()
}

#[test]
fn text_is_as_recorded() {
    let recorded = include_str!("../golden/sealed.nft");
    assert_eq!(ruleset().render(), recorded, "if the change is meant, record it in tests/golden/sealed.nft");
}

#[test]
fn comments_and_chains_are_unique() {
    let ruleset = ruleset();
    let comments: Vec<_> =
        ruleset.chains.iter().flat_map(|chain| &chain.rules).map(|rule| rule.comment).collect();
    assert_eq!(comments.iter().collect::<HashSet<_>>().len(), comments.len(), "{comments:?}");
    let chains: HashSet<_> = ruleset.chains.iter().map(|chain| chain.name).collect();
    assert_eq!(chains.len(), ruleset.chains.len());
}

namespaced! {
    fn nft_accepts_the_text() {
        succeeds("nft", &["-c", "-f", "-"], &ruleset().render());
    }

    /// The text people read is what the kernel runs: loaded by nft, it passes our own read-back, which compares
    /// bytecode.
    fn text_and_transaction_are_the_same_bytecode() {
        succeeds("nft", &["-f", "-"], &ruleset().render());
        let by_text = succeeds("nft", &["--debug=netlink", "list", "ruleset"], "");
        verify(&ruleset()).unwrap();
        succeeds("nft", &["flush", "ruleset"], "");
        apply(&ruleset()).unwrap();
        verify(&ruleset()).unwrap();
        let by_batch = succeeds("nft", &["--debug=netlink", "list", "ruleset"], "");
        assert_eq!(without_numbers(&by_batch), without_numbers(&by_text));
    }

    /// G6: a helper that restarts replaces its own rules.
    fn applying_again_changes_nothing() {
        for _ in 0..100 {
            apply(&ruleset()).unwrap();
        }
        let counters = verify(&ruleset()).unwrap();
        assert_eq!(counters.of("leak").unwrap().packets, 0);
        assert_eq!(succeeds("nft", &["list", "tables"], ""), "table inet closedbook\n");
    }

    fn other_tables_are_left_alone() {
        succeeds("nft", &["add", "table", "ip", "other"], "");
        apply(&ruleset()).unwrap();
        verify(&ruleset()).unwrap();
        assert!(succeeds("nft", &["list", "tables"], "").contains("table ip other"));
    }

    fn every_counting_rule_has_a_counter() {
        apply(&ruleset()).unwrap();
        let counters = verify(&ruleset()).unwrap();
        for rule in ruleset().chains.iter().flat_map(|chain| &chain.rules) {
            assert_eq!(counters.of(rule.comment.as_str()).is_some(), rule.counter.is_some(), "{}", rule.comment);
        }
    }

    fn a_missing_table_is_found() {
        let mismatches = found_after("delete table inet closedbook");
        assert!(matches!(mismatches[0], Mismatch::TableMissing(_)), "{mismatches:?}");
    }

    /// A dormant table lists its rules as ever and applies none.
    fn a_dormant_table_is_found() {
        assert_eq!(found_after("add table inet closedbook { flags dormant; }"), [Mismatch::TableFlags(1)]);
    }

    fn an_added_rule_is_found() {
        let mismatches = found_after("insert rule inet closedbook judge accept");
        assert!(matches!(mismatches[..], [Mismatch::RuleExtra { .. }]), "{mismatches:?}");
    }

    fn an_added_copy_of_a_rule_is_found() {
        let mismatches = found_after("add rule inet closedbook guard_out oifname \"lo\" accept comment \"lo-out\"");
        assert!(matches!(mismatches[..], [Mismatch::RuleExtra { .. }]), "{mismatches:?}");
    }

    fn a_deleted_rule_is_found() {
        apply(&ruleset()).unwrap();
        let command = format!("delete rule inet closedbook judge handle {}", handle("foreign"));
        succeeds("nft", &["-f", "-"], &command);
        let Err(VerifyError::Differs(mismatches)) = verify(&ruleset()) else { panic!("not found") };
        let [Mismatch::RuleMissing { rule, .. }] = mismatches.0[..] else { panic!("{mismatches:?}") };
        assert_eq!(rule.as_str(), "foreign");
        assert!(mismatches.to_string().contains("\"foreign\" of chain judge is missing"), "{mismatches}");
    }

    fn a_changed_rule_is_found() {
        apply(&ruleset()).unwrap();
        let command = format!(
            "replace rule inet closedbook divert handle {} meta l4proto tcp counter redirect to :12346 comment \"tcp\"",
            handle("tcp")
        );
        succeeds("nft", &["-f", "-"], &command);
        let Err(VerifyError::Differs(mismatches)) = verify(&ruleset()) else { panic!("not found") };
        assert!(matches!(mismatches.0[..], [Mismatch::RuleChanged { .. }]), "{mismatches:?}");
    }

    fn a_changed_comment_is_found() {
        apply(&ruleset()).unwrap();
        let command = format!(
            "replace rule inet closedbook guard_out handle {} oifname \"lo\" accept comment \"other\"",
            handle("lo-out")
        );
        succeeds("nft", &["-f", "-"], &command);
        assert!(verify(&ruleset()).is_err());
    }

    fn reordered_rules_are_found() {
        apply(&ruleset()).unwrap();
        let command = format!(
            "delete rule inet closedbook guard_in handle {}\nadd rule inet closedbook guard_in iifname \"lo\" accept comment \"lo-in\"",
            handle("lo-in")
        );
        succeeds("nft", &["-f", "-"], &command);
        let Err(VerifyError::Differs(mismatches)) = verify(&ruleset()) else { panic!("not found") };
        assert!(matches!(mismatches.0[..], [Mismatch::RulesReordered { .. }]), "{mismatches:?}");
    }

    fn a_changed_policy_is_found() {
        let mismatches = found_after("chain inet closedbook judge { policy accept; }");
        assert!(matches!(mismatches[..], [Mismatch::ChainChanged { .. }]), "{mismatches:?}");
    }

    fn a_moved_chain_is_found() {
        let moved = ruleset().render().replace("priority 300", "priority 301");
        let mismatches = found_after(&moved);
        assert!(matches!(mismatches[..], [Mismatch::ChainChanged { .. }]), "{mismatches:?}");
    }

    fn an_added_chain_is_found() {
        let mismatches = found_after(
            "add chain inet closedbook early { type filter hook output priority -400; policy accept; }",
        );
        assert_eq!(mismatches, [Mismatch::ChainExtra("early".to_owned())]);
    }

    /// An expression libnftnl was built without knowing could be anything.
    fn a_jump_in_place_of_a_goto_is_found() {
        apply(&ruleset()).unwrap();
        let command = format!(
            "replace rule inet closedbook judge handle {} counter jump refuse comment \"foreign\"",
            handle("foreign")
        );
        succeeds("nft", &["-f", "-"], &command);
        assert!(verify(&ruleset()).is_err());
    }

    /// The rule the kernel refused is named, and what stood before still stands.
    fn a_refused_rule_is_named() {
        apply(&ruleset()).unwrap();
        let mut wrong = ruleset();
        let chain = wrong.chains.iter_mut().find(|chain| chain.name.as_str() == "guard_out").unwrap();
        // A redirection has no place in a filter chain.
        chain.rules.push(Rule::new(Name::new(c"misplaced"), Action::Redirect(1)));
        match apply(&wrong) {
            Err(
                ApplyError::Lacks { step: Step::Rule { rule, .. }, .. }
                | ApplyError::Refused { step: Step::Rule { rule, .. }, .. },
            ) => assert_eq!(rule.as_str(), "misplaced"),
            other => panic!("{other:?}"),
        }
        verify(&ruleset()).unwrap();
    }

    fn without_the_capability_both_ways_are_refused() {
        apply(&ruleset()).unwrap();
        caps::drop(None, caps::CapSet::Effective, caps::Capability::CAP_NET_ADMIN).unwrap();
        assert!(matches!(apply(&ruleset()), Err(ApplyError::NotPermitted)));
        assert!(matches!(verify(&ruleset()), Err(VerifyError::NotPermitted)));
    }
}

/// nft's debug listing without what differs by nature: rule numbers and counts.
fn without_numbers(listing: &str) -> String {
    let lines = listing.lines().map(|line| match line.strip_prefix("inet closedbook ") {
        Some(rest) => rest.split(' ').next().unwrap_or_default(),
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}
