//! What the table's row says of the same agent.

use std::path::Path;

use closedbook_agents::Table;
use closedbook_audit::config::{Origin, Remark, Report, State, ToolReport};

use crate::exit::Failure;

/// The table, or another one.
pub(super) fn table(path: Option<&Path>) -> Result<Table, Failure> {
    let Some(path) = path else {
        return Table::embedded().map_err(|fault| Failure::bug(format!("the built-in table: {fault}")));
    };
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("can't read the table {name}: {error}")))?;
    Table::from_toml(&text).map_err(|fault| Failure::usage(format!("the table {name}: {fault}")))
}

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
