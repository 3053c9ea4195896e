//! Whether Claude Code takes a settings file at all.
//!
//! One field of the wrong type anywhere, and 2.1.295 passes over the whole user, project, local or `--settings` file
//! without a word (managed settings lose that field only). So a deny rule holds only in a file whose other fields are
//! right. Fields that are not in the schema are accepted; fields whose contents are too rich to be judged here leave
//! the file in doubt.

use closedbook_document::{Node, Value};

mod lists;

use lists::{BOOLEANS, CHOICES, FORGIVING, LISTS, POSITIVE, RICH, TEXTS};

/// Whether a file is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Taken {
    /// Yes.
    Yes,
    /// Not a word of it, because of this.
    No(String),
    /// That depends on this.
    Perhaps(String),
}

/// Judges a settings file.
pub(super) fn judge(root: &Node) -> Taken {
    if !matches!(root.value, Value::Table(_)) {
        return Taken::No(format!("it holds {} and no table", root.value.kind()));
    }
    let mut doubt = None;
    // Of two equal keys the last counts, so only that one is judged.
    for (key, _) in root.fields() {
        let Some(value) = root.get(&key.text) else { continue };
        match field(&key.text, value) {
            Taken::Yes => {}
            Taken::No(why) => return Taken::No(format!("`{}` {why}", key.text)),
            Taken::Perhaps(why) => doubt = doubt.or(Some(format!("`{}` {why}", key.text))),
        }
    }
    doubt.map_or(Taken::Yes, Taken::Perhaps)
}

fn field(key: &str, value: &Node) -> Taken {
    match key {
        "permissions" => permissions(value),
        "hooks" => hooks(value),
        "env" | "enabledPlugins" => must(matches!(value.value, Value::Table(_)), "must be a table"),
        key if BOOLEANS.contains(&key) => must(value.boolean().is_some(), "must be true or false"),
        key if TEXTS.contains(&key) => must(value.text().is_some(), "must be text"),
        key if LISTS.contains(&key) => texts(value),
        key if POSITIVE.contains(&key) => {
            must(matches!(value.value, Value::Integer(1..)), "must be a whole number over 0")
        }
        key if FORGIVING.contains(&key) => Taken::Yes,
        key if RICH.contains(&key) => Taken::Perhaps("is not judged here".into()),
        key => match CHOICES.iter().find(|(name, _)| *name == key) {
            Some((_, choices)) => must(
                value.text().is_some_and(|text| choices.contains(&text)),
                &format!("must be one of {}", choices.join(", ")),
            ),
            None => Taken::Yes,
        },
    }
}

fn permissions(value: &Node) -> Taken {
    if !matches!(value.value, Value::Table(_)) {
        return Taken::No("must be a table".into());
    }
    for (key, _) in value.fields() {
        let Some(inner) = value.get(&key.text) else { continue };
        let judged = match key.text.as_str() {
            // Items that are no text are passed over one by one.
            "allow" | "deny" | "ask" => must(matches!(inner.value, Value::List(_)), "must be a list"),
            "additionalDirectories" => texts(inner),
            "defaultMode" => must(inner.text().is_some_and(|mode| MODES.contains(&mode)), "is no mode"),
            "disableBypassPermissionsMode" | "disableAutoMode" => {
                must(inner.text() == Some("disable"), "must be \"disable\"")
            }
            "blockReadsOutsideWorkingDirectories" => must(inner.boolean().is_some(), "must be true or false"),
            _ => Taken::Yes,
        };
        match judged {
            Taken::Yes => {}
            Taken::No(why) => return Taken::No(format!("has `{}`, which {why}", key.text)),
            Taken::Perhaps(why) => return Taken::Perhaps(why),
        }
    }
    Taken::Yes
}

/// Events hold lists of matchers, which hold lists of hooks, each of a known type.
fn hooks(value: &Node) -> Taken {
    for (event, matchers) in value.fields() {
        let Value::List(matchers) = &matchers.value else {
            return Taken::No(format!("has `{}`, which must be a list", event.text));
        };
        for hook in matchers.iter().map(|matcher| matcher.get("hooks")) {
            let Some(Node { value: Value::List(hooks), .. }) = hook else {
                return Taken::No(format!("has a matcher at `{}` without a list of hooks", event.text));
            };
            for hook in hooks {
                let is_command = hook.get("type").and_then(Node::text) == Some("command")
                    && hook.get("command").is_some_and(|command| command.text().is_some());
                let is_plain = hook.fields().all(|(key, value)| match key.text.as_str() {
                    "type" | "command" => true,
                    "timeout" => matches!(value.value, Value::Integer(1..)),
                    _ => false,
                });
                if !is_command || !is_plain {
                    return Taken::Perhaps(format!("has a hook at `{}` that is not judged here", event.text));
                }
            }
        }
    }
    Taken::Yes
}

fn texts(value: &Node) -> Taken {
    let is_list = matches!(value.value, Value::List(_));
    must(is_list && value.items().iter().all(|item| item.text().is_some()), "must be a list of texts")
}

fn must(holds: bool, what: &str) -> Taken {
    if holds { Taken::Yes } else { Taken::No(what.to_owned()) }
}

const MODES: &[&str] = &["default", "manual", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"];
