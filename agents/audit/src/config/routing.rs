//! What a provider does by itself: search in a model's name, in the options of a request, at another address.

use closedbook_document::{Key, Node};

use super::layers::letters;
use super::{Bringer, Kind, Origin, Scene, State, provider};

/// What providers call their own search in a request.
const SEARCHES: [&str; 6] =
    ["websearch", "websearchoptions", "searchparameters", "plugins", "googlesearch", "searchgrounding"];

/// Every option below this value that asks a provider to search by itself.
pub(crate) fn searches(node: &Node) -> Vec<&Key> {
    let mut found = Vec::new();
    collect(node, &mut found);
    found
}

/// Whether an option asks a provider to search by itself.
pub(crate) fn asks(key: &str, value: &Node) -> bool {
    SEARCHES.contains(&letters(key).as_str()) && value.boolean() != Some(false)
}

fn collect<'a>(node: &'a Node, found: &mut Vec<&'a Key>) {
    for (key, value) in node.fields() {
        if asks(&key.text, value) {
            found.push(key);
        }
        collect(value, found);
    }
    node.items().iter().for_each(|item| collect(item, found));
}

/// What a model's name alone brings.
pub(crate) fn model(name: &str, origin: Origin) -> Option<Bringer> {
    let (state, why) = if name.ends_with(":online") {
        (State::On, "a model named :online searches the web at the provider")
    } else if name.contains("search-preview")
        || name.contains("perplexity/")
        || name.contains("deep-research")
    {
        (State::On, "this model searches the web at the provider")
    } else if name.starts_with("openrouter/") {
        (
            State::Unknown,
            "the account's default plugins can search without being asked for; its settings must show them off",
        )
    } else {
        return None;
    };
    Some(Bringer { kind: Kind::Provider, name: name.to_owned(), origin, state, why: why.into() })
}

/// A provider that is asked to search, or may do so.
pub(crate) fn bringer(name: &str, origin: Origin, state: State, why: impl Into<String>) -> Bringer {
    Bringer { kind: Kind::Provider, name: name.to_owned(), origin, state, why: why.into() }
}

/// An address that is not the provider's own.
pub(crate) fn gateway(name: &str, url: &str, origin: Origin, own: &[&str]) -> Option<Bringer> {
    let host = provider::host(url);
    let why = format!("{url}: a gateway may add tools by itself");
    (!own.contains(&host.as_str())).then(|| bringer(name, origin, State::Unknown, why))
}

/// Hosts of the providers that litellm knows.
pub(crate) const HOSTS: [&str; 11] = [
    "api.anthropic.com",
    "api.openai.com",
    "api.x.ai",
    "generativelanguage.googleapis.com",
    "api.deepseek.com",
    "api.mistral.ai",
    "api.groq.com",
    "api.together.xyz",
    "api.moonshot.ai",
    "api.moonshot.cn",
    "openrouter.ai",
];

/// Variables with which litellm is led to another address.
pub(crate) const LITELLM: [&str; 9] = [
    "OPENAI_API_BASE",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_BASE",
    "ANTHROPIC_BASE_URL",
    "OPENROUTER_API_BASE",
    "GEMINI_API_BASE",
    "XAI_API_BASE",
    "DEEPSEEK_API_BASE",
    "MISTRAL_API_BASE",
];

/// Notes the addresses that litellm would use.
pub(crate) fn litellm(scene: &mut Scene<'_>) {
    for name in LITELLM {
        let Some((url, origin)) = scene.variable(name).filter(|(url, _)| !url.is_empty()) else { continue };
        let found = gateway(name, url, origin.clone(), &HOSTS);
        found.into_iter().for_each(|bringer| scene.brings(bringer));
    }
}
