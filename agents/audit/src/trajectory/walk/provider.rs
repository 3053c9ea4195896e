//! What a provider's own tools leave in a transcript, and web tools that the model was offered.

use super::super::finding::{Kind, Raw};
use super::super::hosts;
use super::super::json::{self, Json};
use super::super::tools::{self, Class};
use super::names::{EVENTS, HARMLESS, IDS};
use super::{Sink, Spot};

/// What a provider's own tools leave.
pub(super) fn events(value: &Json<'_>, spot: &Spot, sink: &mut dyn Sink) {
    let id = value.first_text(IDS);
    if let Some(kind) = value.text("type").filter(|kind| EVENTS.contains(kind)) {
        let name = value.first_text(&["name", "tool_name", "server_label", "server_name"]);
        let arguments =
            value.first(&["input", "arguments", "action", "query", "url", "content"]).unwrap_or(value);
        let reason = name.map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"));
        let raw = Raw::new(Kind::ProviderTool, reason, &json::shown(arguments, 400))
            .hosts(all_hosts(value))
            .provider();
        sink.event(spot, kind, id, if HARMLESS.contains(&kind) { raw.note() } else { raw });
    }
    let mut event = |name: &str, what: &Json<'_>| {
        let raw =
            Raw::new(Kind::ProviderTool, name, &json::shown(what, 400)).hosts(all_hosts(what)).provider();
        sink.event(spot, name, id, raw);
    };
    for (key, inner) in value.fields() {
        match key.as_ref() {
            "groundingMetadata"
            | "grounding_metadata"
            | "urlContextMetadata"
            | "url_context_metadata"
            | "citationMetadata"
                if inner.fields().iter().any(|(_, value)| value.says_something()) =>
            {
                event(key, inner);
            }
            "webSearchRequests"
            | "web_search_requests"
            | "web_fetch_requests"
            | "webFetchRequests"
            | "num_sources_used"
            | "num_server_side_tools_used"
                if inner.as_number().is_some_and(|count| count > 0.0) =>
            {
                event(key, inner);
            }
            "server_side_tool_usage" if inner.fields().iter().any(|(_, value)| value.says_something()) => {
                event(key, inner)
            }
            // A list of addresses, as xAI and Perplexity give it. The documents of the request have other citations.
            "citations" | "search_results" if all_texts_lead_away(inner) => event(key, inner),
            // What Claude Code keeps of its web tools' results.
            "toolUseResult"
                if inner.get("searchCount").is_some()
                    || (inner.get("url").is_some() && inner.get("bytes").is_some()) =>
            {
                event("toolUseResult", inner);
            }
            _ => {}
        }
    }
}

/// Web tools that the model was offered.
pub(super) fn offers(value: &Json<'_>, spot: &Spot, sink: &mut dyn Sink) {
    let mut offered: Vec<&str> = Vec::new();
    for (key, inner) in value.fields() {
        if !matches!(
            key.as_ref(),
            "tools" | "addedNames" | "additional_tools" | "tool_definitions" | "offered_tools"
        ) {
            continue;
        }
        for item in inner.items() {
            let function = item.get("function").and_then(|function| function.text("name"));
            let names = [item.as_text(), item.text("name"), function, item.text("type")];
            offered.extend(names.into_iter().flatten().filter(|name| {
                name.starts_with("web_search")
                    || name.starts_with("x_search")
                    || matches!(tools::classify(name), Class::Web(_) | Class::Forge)
            }));
        }
    }
    offered.dedup();
    if let Some(first) = offered.first() {
        let raw = Raw::new(Kind::Offer, "web tools are offered to the model", &offered.join(", ")).note();
        sink.event(spot, first, None, raw);
    }
}

fn all_texts_lead_away(value: &Json<'_>) -> bool {
    !value.items().is_empty()
        && value.items().iter().all(|item| {
            let text = item.as_text().or_else(|| item.first_text(&["url", "uri", "link"]));
            text.is_some_and(|text| hosts::outside(text).next().is_some())
        })
}

/// The hosts of all addresses in a value, a few at most.
fn all_hosts(value: &Json<'_>) -> Vec<String> {
    fn go(value: &Json<'_>, found: &mut Vec<String>) {
        if found.len() > 50 {
            return;
        }
        match value {
            Json::Text(text) if text.len() < 64 << 10 => found.extend(hosts::outside_hosts(text)),
            Json::List(items) => items.iter().for_each(|item| go(item, found)),
            Json::Table(fields) => fields.iter().for_each(|(_, value)| go(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    go(value, &mut found);
    hosts::once(found.into_iter())
}
