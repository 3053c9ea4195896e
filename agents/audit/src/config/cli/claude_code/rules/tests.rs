use super::*;

/// As the real CLI did with `--disallowedTools` and `permissions.deny`.
#[test]
fn what_was_measured() {
    for (rule, search, fetch) in [
        ("WebSearch", Effect::Removes, Effect::Nothing),
        ("Web*", Effect::Removes, Effect::Removes),
        ("W*", Effect::Removes, Effect::Removes),
        ("*", Effect::Removes, Effect::Removes),
        ("*Search", Effect::Removes, Effect::Nothing),
        ("WebFetch()", Effect::Nothing, Effect::Removes),
        ("WebFetch(*)", Effect::Nothing, Effect::Removes),
        ("WebFetch(domain:*)", Effect::Nothing, Effect::Narrows),
        ("WebSearch(foo)", Effect::Narrows, Effect::Nothing),
        ("Web", Effect::Nothing, Effect::Nothing),
        ("Web?earch", Effect::Nothing, Effect::Nothing),
        ("websearch", Effect::Misspelt, Effect::Nothing),
        ("web_search", Effect::Misspelt, Effect::Nothing),
        ("\"WebSearch\"", Effect::Misspelt, Effect::Nothing),
        (" WebSearch", Effect::Misspelt, Effect::Nothing),
        ("WebSearch;WebFetch", Effect::Misspelt, Effect::Misspelt),
        ("WebSearch\tWebFetch", Effect::Misspelt, Effect::Misspelt),
        ("mcp__*", Effect::Nothing, Effect::Nothing),
    ] {
        assert_eq!((effect(rule, "WebSearch"), effect(rule, "WebFetch")), (search, fetch), "{rule}");
    }
}

#[test]
fn lists_are_cut_at_commas_and_spaces() {
    assert_eq!(names(" WebSearch , WebFetch "), ["WebSearch", "WebFetch"]);
    assert_eq!(names("Bash(a,WebSearch) X,,Y"), ["Bash(a,WebSearch)", "X", "Y"]);
    assert_eq!(names("WebSearch\tWebFetch"), ["WebSearch\tWebFetch"]);
    assert!(names("").is_empty());
}

/// G16.
#[test]
fn no_pattern_takes_long() {
    assert!(!matches_star(&"*a".repeat(50_000), &"a".repeat(1000)));
    for odd in ["(", ")", "()", "*(", "\u{e4}(\u{e4})", "", "***"] {
        effect(odd, "WebSearch");
        names(odd);
    }
}
