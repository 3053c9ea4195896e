use closedbook_document::Format;

use super::*;

fn permissions(texts: &[&str]) -> Permissions {
    let mut permissions = Permissions::default();
    for text in texts {
        permissions.merge(&Format::Json.read(text).unwrap(), "layer", &Origin::Default);
    }
    permissions
}

fn is_denied(texts: &[&str]) -> bool {
    matches!(permissions(texts).outcome("webfetch"), Outcome::Denied(..))
}

/// Measured with 1.18.33: order matters, and `"*"` last leaves nothing.
#[test]
fn the_last_rule_that_fits_decides() {
    assert!(is_denied(&[r#"{"*": "deny", "bash": "allow"}"#]));
    assert!(is_denied(&[r#"{"webfetch": "allow", "*": "deny"}"#]));
    assert!(!is_denied(&[r#"{"webfetch": "deny", "*": "allow"}"#]));
    assert!(is_denied(&[r#"{"web*": "deny"}"#]));
    assert!(is_denied(&[r#""deny""#]));
    assert!(!is_denied(&[r#"{"webfetch": "ask"}"#]));
}

#[test]
fn merging_keeps_a_key_where_it_stood_first() {
    assert!(!is_denied(&[r#"{"webfetch": "deny"}"#, r#"{"*": "allow"}"#]));
    assert!(!is_denied(&[r#"{"*": "allow", "webfetch": "deny"}"#, r#"{"webfetch": "allow"}"#]));
    assert!(is_denied(&[r#"{"*": "allow"}"#, r#"{"webfetch": "deny"}"#, r#"{"*": "allow"}"#]));
}

/// A variable is not checked: `false` there gives no rule, and takes the one away that stood there.
#[test]
fn what_is_no_action_gives_no_rule() {
    assert!(!is_denied(&[r#"{"webfetch": "deny"}"#, r#"{"webfetch": false}"#]));
    assert!(!is_denied(&[r#"{"webfetch": "Deny"}"#]));
}

#[test]
fn a_deny_of_some_patterns_leaves_the_tool() {
    assert!(is_denied(&[r#"{"webfetch": {"*": "deny"}}"#]));
    assert!(!is_denied(&[r#"{"webfetch": {"*": "deny", "https://a/*": "allow"}}"#]));
    assert!(!is_denied(&[r#"{"webfetch": {"https://a/*": "deny"}}"#]));
}

#[test]
fn wildcards_fit_as_measured() {
    for (pattern, fit) in [
        ("web*", true),
        ("*", true),
        ("w?bfetch", true),
        ("WebFetch", false),
        ("web_fetch", false),
        ("*fetch*", true),
        ("", false),
    ] {
        assert_eq!(fits(pattern, "webfetch"), fit, "{pattern}");
    }
}
