//! What TrialDesignBench looks for in texts: addresses, and the commands of nine patterns.

use std::ops::Range;

/// A word's character, as Python's `\w` has it.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// White space, as Python's `\s` has it.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// Whether a word begins or ends at a place.
fn is_edge(text: &str, at: usize) -> bool {
    before(text, at).is_some_and(is_word) != rest(text, at).chars().next().is_some_and(is_word)
}

/// Where white space from a place on ends.
fn spaces(text: &str, at: usize) -> usize {
    text.len() - rest(text, at).trim_start_matches(is_space).len()
}

/// Addresses: `http://` or `https://` in any case, to the next space, quote, angle bracket or `)`.
pub(super) fn urls(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(mark) = rest(text, from).find("://") {
        let mark = from + mark;
        from = mark + 3;
        let Some(start) = scheme(text, mark) else { continue };
        let tail = rest(text, mark + 3);
        let length = tail
            .find(|c: char| is_space(c) || matches!(c, '"' | '\'' | '<' | '>' | ')'))
            .unwrap_or(tail.len());
        if length > 0 {
            found.push(text.get(start..mark + 3 + length).unwrap_or_default());
            from = mark + 3 + length;
        }
    }
    found
}

/// Where `http` or `https` begins that ends at a place. Python lets the long s stand for an s, in any case.
fn scheme(text: &str, end: usize) -> Option<usize> {
    let head = text.get(..end)?;
    let plain = head.strip_suffix(['s', 'S', '\u{17f}']).unwrap_or(head);
    [plain, head].into_iter().find_map(|head| {
        let start = head.len().checked_sub(4)?;
        head.get(start..)?.eq_ignore_ascii_case("http").then_some(start)
    })
}

/// The first place of each pattern that is found.
pub(super) fn commands(text: &str) -> Vec<(&'static str, Range<usize>)> {
    let program = |name: &str| {
        first(text, &[name], |at| {
            let free = !before(text, at).is_some_and(|c| is_word(c) || c == '.' || c == '-');
            let end = at + name.len();
            (free && is_edge(text, end)).then_some(end)
        })
    };
    let call = |name: &str| {
        first(text, &[name], |at| {
            let open = spaces(text, at + name.len());
            (is_edge(text, at) && rest(text, open).starts_with('(')).then_some(open + 1)
        })
    };
    let found = [
        ("curl", program("curl")),
        ("wget", program("wget")),
        ("download.file", call("download.file")),
        ("httr", httr(text)),
        ("requests", requests(text)),
        ("urllib", urllib(text)),
        ("pip install", pip(text)),
        ("install.packages", call("install.packages")),
        (
            "git clone",
            first(text, &["git"], |at| {
                let verb = spaces(text, at + 3);
                let end = verb + "clone".len();
                (is_edge(text, at)
                    && verb > at + 3
                    && rest(text, verb).starts_with("clone")
                    && is_edge(text, end))
                .then_some(end)
            }),
        ),
    ];
    found.into_iter().filter_map(|(label, place)| Some((label, place?))).collect()
}

/// The first place where one of some words stands and the rest of the pattern follows, which says where it ends.
fn first(text: &str, words: &[&str], follows: impl Fn(usize) -> Option<usize>) -> Option<Range<usize>> {
    words
        .iter()
        .filter_map(|word| text.match_indices(word).find_map(|(at, _)| follows(at).map(|end| at..end)))
        .min_by_key(|place| place.start)
}

fn httr(text: &str) -> Option<Range<usize>> {
    let package = first(text, &["httr"], |at| {
        if !is_edge(text, at) {
            return None;
        }
        let name = at + 4;
        let versioned = if rest(text, name).starts_with('2') { Some(name + 1) } else { None };
        versioned.into_iter().chain([name]).find_map(|end| {
            let colons = spaces(text, end);
            rest(text, colons).starts_with("::").then_some(colons + 2)
        })
    });
    let loaded = first(text, &["library(", "require("], |at| {
        // Both words have eight characters with the parenthesis.
        let mut name = spaces(text, at + 8);
        if rest(text, name).starts_with(['"', '\'']) {
            name += 1;
        }
        let end = name + rest(text, name).strip_prefix("httr").map(|_| 4)?;
        let versioned = if rest(text, end).starts_with('2') { Some(end + 1) } else { None };
        versioned.into_iter().chain([end]).find(|end| is_edge(text, *end))
    });
    [package, loaded].into_iter().flatten().min_by_key(|place| place.start)
}

fn requests(text: &str) -> Option<Range<usize>> {
    let loaded = first(text, &["import"], |at| {
        let name = spaces(text, at + 6);
        let end = name + "requests".len();
        (is_edge(text, at) && name > at + 6 && rest(text, name).starts_with("requests") && is_edge(text, end))
            .then_some(end)
    });
    let called = first(text, &["requests."], |at| {
        let name = at + "requests.".len();
        let called = ["get", "post", "request", "Session"]
            .iter()
            .find(|verb| rest(text, name).starts_with(**verb) && is_edge(text, name + verb.len()))?;
        is_edge(text, at).then_some(name + called.len())
    });
    [loaded, called].into_iter().flatten().min_by_key(|place| place.start)
}

fn urllib(text: &str) -> Option<Range<usize>> {
    first(text, &["urllib"], |at| {
        let end = at + "urllib".len();
        let longer = [".request", ".urlopen", "3", ""]
            .iter()
            .find(|part| rest(text, end).starts_with(**part) && is_edge(text, end + part.len()))?;
        is_edge(text, at).then_some(end + longer.len())
    })
}

fn pip(text: &str) -> Option<Range<usize>> {
    let install = |at: usize| {
        let verb = spaces(text, at);
        let end = verb + "install".len();
        (verb > at && rest(text, verb).starts_with("install") && is_edge(text, end)).then_some(end)
    };
    let plain = first(text, &["pip"], |at| {
        if !is_edge(text, at) {
            return None;
        }
        let end = at + 3;
        let end = if rest(text, end).starts_with('3') { end + 1 } else { end };
        install(end)
    });
    let uv = first(text, &["uv"], |at| {
        let pip = spaces(text, at + 2);
        (is_edge(text, at) && pip > at + 2 && rest(text, pip).starts_with("pip")).then_some(())?;
        install(pip + 3)
    });
    [plain, uv].into_iter().flatten().min_by_key(|place| place.start)
}
