//! What a CLI prints about itself: events, one a line, of which the first lists its tools.

use serde_json::Value;

use super::{How, Offer, string};

/// Reads what was printed; lines that are no events are passed over, since most of what CLIs print is none.
pub(super) fn read(offer: &mut Offer, printed: &str) {
    for line in printed.lines().filter(|line| line.starts_with('{')) {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        // Claude Code and Qwen Code.
        if string(&event, "subtype") == Some("init") && string(&event, "type") == Some("system") {
            init(offer, &event);
        }
    }
}

fn init(offer: &mut Offer, event: &Value) {
    match event.get("tools").map(|tools| (tools, tools.as_array())) {
        None => {}
        Some((_, Some(tools))) => {
            for tool in tools {
                match tool.as_str().or_else(|| string(tool, "name")) {
                    Some(name) => offer.add(name, How::Listed, false, None),
                    None => offer.unread(None, "the CLI's own list has a tool without a name"),
                }
            }
        }
        Some((_, None)) => offer.unread(None, "the CLI's own list of tools is no list"),
    }
    for server in event.get("mcp_servers").and_then(Value::as_array).into_iter().flatten() {
        let name = server.as_str().or_else(|| string(server, "name")).unwrap_or("without a name");
        offer.add(&format!("mcp__{name}"), How::Mcp, false, None);
    }
}
