//! What settings come to where any one of them that switches a tool off is enough.

use super::{Origin, Says, Setting, State, ToolReport};

/// A tool of a CLI in which off wins. The settings come strongest first; `default` says what holds without any.
pub(crate) fn off_wins(tool: &str, mut settings: Vec<Setting>, default: &str) -> ToolReport {
    // The sort keeps the order of equals.
    settings.sort_by_key(|setting| rank(&setting.says));
    let (state, why) = match settings.first() {
        None => (State::On, default.to_owned()),
        Some(first) => match &first.says {
            Says::Off => (State::Off, format!("{} ({})", first.what, first.origin)),
            Says::Unclear(why) => (State::Unknown, format!("{} ({}): {why}", first.what, first.origin)),
            Says::Overridden(why) | Says::Ignored(why) => {
                (State::On, format!("{} ({}) does not count: {why}", first.what, first.origin))
            }
            Says::On => (State::On, format!("{} ({})", first.what, first.origin)),
        },
    };
    ToolReport { tool: tool.to_owned(), state, why, settings }
}

/// A setting, in short.
pub(crate) fn setting(what: impl Into<String>, origin: Origin, layer: &'static str, says: Says) -> Setting {
    Setting { what: what.into(), origin, layer, says }
}

fn rank(says: &Says) -> u8 {
    match says {
        Says::Off => 0,
        Says::Unclear(_) => 1,
        // One that was meant to switch the tool off says more about why it is on than one that leaves it on.
        Says::Overridden(_) => 2,
        Says::Ignored(_) => 3,
        Says::On => 4,
    }
}
