//! A unified diff of a text and edits within its lines.

use std::fmt::Write;
use std::ops::Range;

/// Lines that are shown round a change.
const CONTEXT: usize = 3;

/// One line, and what becomes of it: `None` if it goes.
struct Line<'a> {
    old: &'a str,
    new: Option<String>,
    changed: bool,
}

/// The edits are in order, do not overlap, and none goes over the end of a line. Empty if nothing changes.
pub(super) fn unified(file: &str, source: &str, edits: &[(Range<usize>, String)]) -> String {
    let lines = lines(source, edits);
    let changed: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| line.changed).map(|(at, _)| at).collect();
    let mut out = String::new();
    if changed.is_empty() {
        return out;
    }
    // Writing to a String can't fail.
    let _ = writeln!(out, "--- a/{file}\n+++ b/{file}");
    let mut shift = 0isize;
    let mut rest = changed.as_slice();
    while let Some(first) = rest.first() {
        let size =
            rest.windows(2).take_while(|pair| matches!(pair, [a, b] if b - a <= 2 * CONTEXT)).count() + 1;
        let (hunk, after) = rest.split_at(size);
        rest = after;
        let start = first.saturating_sub(CONTEXT);
        let end = (hunk.last().unwrap_or(first) + CONTEXT + 1).min(lines.len());
        shift += write_hunk(&mut out, lines.get(start..end).unwrap_or_default(), start, shift);
    }
    out
}

/// Gives by how many lines the text has grown.
fn write_hunk(out: &mut String, lines: &[Line<'_>], start: usize, shift: isize) -> isize {
    let new = lines.iter().filter(|line| line.new.is_some()).count();
    // A side without lines is said to begin at the line before.
    let begins = |count: usize, at: isize| if count == 0 { at } else { at + 1 };
    let at = isize::try_from(start).unwrap_or(isize::MAX);
    let (old_at, new_at) = (begins(lines.len(), at), begins(new, at.saturating_add(shift)));
    let _ = writeln!(out, "@@ -{old_at},{} +{new_at},{new} @@", lines.len());
    let mut pending = String::new();
    for line in lines {
        match line.changed {
            false => {
                out.push_str(&std::mem::take(&mut pending));
                write_line(out, ' ', line.old);
            }
            true => {
                write_line(out, '-', line.old);
                if let Some(new) = &line.new {
                    write_line(&mut pending, '+', new);
                }
            }
        }
    }
    out.push_str(&pending);
    new as isize - lines.len() as isize
}

fn write_line(out: &mut String, mark: char, line: &str) {
    out.push(mark);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

fn lines<'a>(source: &'a str, edits: &[(Range<usize>, String)]) -> Vec<Line<'a>> {
    let mut edits = edits.iter().peekable();
    let mut at = 0;
    let mut lines = Vec::new();
    for old in source.split_inclusive('\n') {
        let end = at + old.len();
        let mut new = String::new();
        let mut from = at;
        let mut changed = false;
        while let Some((range, text)) = edits.next_if(|(range, _)| range.start < end) {
            new.push_str(source.get(from..range.start).unwrap_or_default());
            new.push_str(text);
            from = range.end;
            changed = true;
        }
        new.push_str(source.get(from..end).unwrap_or_default());
        // A line that had an entry alone goes with it, and so does what was said about it there.
        let is_empty = new.trim().is_empty() || new.trim_start().starts_with('#');
        lines.push(Line { old, new: (!(changed && is_empty)).then_some(new), changed });
        at = end;
    }
    lines
}
