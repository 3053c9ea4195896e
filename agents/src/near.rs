//! The name that was probably meant.

/// The known name that is nearest to the one given, if one is near: at most a third of its letters differ.
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = given.chars().take(LONGEST).flat_map(char::to_lowercase).collect();
    let begins = given.iter().collect::<String>();
    known
        .into_iter()
        .map(|name| (distance(&given, &name.chars().collect::<Vec<_>>()), name))
        .filter(|(distance, name)| {
            distance * 3 <= name.len() || given.len() >= 3 && name.starts_with(&begins)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// No name is longer.
const LONGEST: usize = 64;

/// How many letters have to be added, removed or replaced (Levenshtein).
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (above, b) in row.iter().skip(1).zip(to) {
            left = (above + 1).min(left + 1).min(diagonal + usize::from(a != b));
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["claude-code", "codex", "opencode"];
        for (given, expected) in [
            ("claude", Some("claude-code")),
            ("Claude-Code", Some("claude-code")),
            ("claudecode", Some("claude-code")),
            ("codx", Some("codex")),
            ("open-code", Some("opencode")),
            ("devin", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, known), expected, "{given:?}");
        }
    }
}
