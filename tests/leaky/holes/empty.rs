//! No sidecar at all.

use std::collections::BTreeSet;

use closedbook_canary::Want;
use serde_json::{Value, json};

use crate::hole::{Hole, failed};
use crate::rig::baseline;
use crate::support::modes;

/// Every probe that tries to get out does: one that is stopped by nothing is good for nothing.
#[test]
fn everybody_gets_out() {
    let mode = modes()[0];
    let hole = Hole::named("empty")
        .rules(json!({"none": true}))
        .proxy(Value::Null)
        .with_raw_sockets()
        .through_its_life();
    let found = failed(&hole.judgement(mode));
    let outcomes = baseline(mode).stages.iter().flat_map(|stage| &stage.outcomes);
    let is_way_out = |want: &Want| !matches!(want, Want::Reached { .. } | Want::Absent);
    let ways_out: BTreeSet<String> = outcomes
        .filter(|outcome| outcome.tries.iter().any(|one| is_way_out(&one.want)))
        .map(|outcome| outcome.id.clone())
        .collect();
    let stopped: Vec<_> = ways_out.difference(&found).collect();
    assert_eq!(stopped, [""; 0], "these were stopped by nothing");
}
