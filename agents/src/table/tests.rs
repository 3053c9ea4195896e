use super::*;
use crate::{History, HistoryFault, Judge};

#[test]
fn the_embedded_table_is_in_order() {
    let table = Table::embedded().unwrap_or_else(|fault| panic!("{fault}"));
    for row in table.rows() {
        assert!(!row.sources.is_empty(), "{}", row.name);
    }
}

/// A version that was given is never changed.
#[test]
fn the_history_counts_up_and_nobody_changed_it() {
    let history = History::embedded().unwrap_or_else(|fault: HistoryFault| panic!("{fault}"));
    assert_eq!(history.tables().last(), Some(&Table::embedded().unwrap()));
}

/// Every row that may be run makes a policy, with every login and provider, in which the agent reaches no more than setup.
#[test]
fn every_choice_makes_a_policy() {
    let table = Table::embedded().unwrap();
    let mut made = 0;
    for row in table.rows() {
        let Some(usable) = row.usable() else { continue };
        for (auth, login) in &usable.auth {
            for provider in &login.providers {
                let ask =
                    Ask { agent: &row.name, provider: Some(provider), auth: Some(*auth), version: None };
                let choice = table.choose(&ask).unwrap();
                let policy = choice.policy(Judge::Usual).unwrap().unwrap();
                let hosts = |phase: &str| {
                    policy
                        .phase(phase)
                        .unwrap()
                        .entries()
                        .iter()
                        .map(|entry| entry.as_str().to_owned())
                        .collect::<Vec<_>>()
                };
                assert!(!hosts("agent").is_empty());
                assert!(hosts("agent").iter().all(|host| hosts("setup").contains(host)));
                assert_eq!(hosts("verifier"), ["api.anthropic.com"]);
                let closed = choice.policy(Judge::Nobody).unwrap().unwrap();
                assert!(closed.phase("verifier").unwrap().entries().is_empty());
                made += 1;
            }
        }
    }
    assert!(made > 20, "{made}");
}
