//! What the table's row says of the same agent.

use closedbook_agents::Table;
use closedbook_audit::config::{Origin, Remark, Report, State, ToolReport};

/// Adds what only the row knows: tools that the rules do not follow, another version, a refusal.
pub(super) fn compare(table: &Table, report: &mut Report) {
    let mut remark = |text: String| report.remarks.push(Remark { origin: Origin::Default, text });
    let Some(row) = table.row(&report.agent) else {
        return remark("the agent table has no row of this agent".into());
    };
    let Some(usable) = row.usable() else {
        return remark(format!(
            "the agent table refuses this agent; closedbook agents show {}",
            report.agent
        ));
    };
    if let Some(version) = &report.version
        && usable.version.to_string() != version.trim_start_matches('v')
    {
        remark(format!("the agent table's row is for another version than {version}"));
    }
    for tool in &usable.tools {
        if !report.tools.iter().any(|known| known.tool == tool.name) {
            report.tools.push(ToolReport {
                tool: tool.name.clone(),
                state: State::Unknown,
                why: "the agent table names this tool, and no rules follow it".into(),
                settings: Vec::new(),
            });
        }
    }
}
