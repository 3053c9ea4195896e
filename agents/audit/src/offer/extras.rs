//! The web without a tool: fields of a request and names of models that make the provider search.

use serde_json::Value;

use super::{How, Offer, string};

/// Parts of the names of models that search by themselves.
const SEARCHING: [&str; 5] = [":online", "-search-preview", "-search-api", "deep-research", "sonar"];

/// Whether a value leaves search off.
type IsOff = fn(&Value) -> bool;

/// Fields that switch search on, each with what is off.
const FIELDS: [(&str, IsOff); 6] = [
    // OpenAI's Chat Completions.
    ("web_search_options", Value::is_null),
    // xAI's live search.
    ("search_parameters", |value| string(value, "mode") == Some("off")),
    // DashScope.
    ("enable_search", |value| value.as_bool() == Some(false)),
    ("search_options", Value::is_null),
    // Anthropic's connector for MCP servers.
    ("mcp_servers", is_empty),
    // OpenRouter, Together and others: what else they bring.
    ("plugins", |value| is_empty(value) || all_off(value)),
];

pub(super) fn model(offer: &mut Offer, number: usize, model: &str) {
    let name = model.to_ascii_lowercase();
    if SEARCHING.iter().any(|part| name.contains(part)) {
        offer.add(&format!("model {model}"), How::Request, true, Some(number));
    }
}

pub(super) fn fields(offer: &mut Offer, number: usize, body: &Value) {
    // DashScope's own form has its fields one level deeper, and so have clients that pass on what they don't know.
    let layers = [Some(body), body.get("parameters"), body.get("extra_body")];
    for layer in layers.into_iter().flatten() {
        for (field, is_off) in FIELDS {
            let Some(value) = layer.get(field).filter(|value| !value.is_null() && !is_off(value)) else {
                continue;
            };
            match (field, value.as_array()) {
                ("plugins", Some(plugins)) => {
                    plugins.iter().filter(|plugin| !is_off_plugin(plugin)).for_each(|plugin| {
                        let name = string(plugin, "id").unwrap_or("without a name");
                        offer.add(&format!("plugin {name}"), How::Request, true, Some(number));
                    })
                }
                _ => offer.add(field, How::Request, true, Some(number)),
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

fn all_off(value: &Value) -> bool {
    value.as_array().is_some_and(|plugins| plugins.iter().all(is_off_plugin))
}

fn is_off_plugin(plugin: &Value) -> bool {
    plugin.get("enabled").and_then(Value::as_bool) == Some(false)
}
