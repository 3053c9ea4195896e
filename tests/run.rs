//! `closedbook run`: the command is the user's own in every respect but the network.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use support::{Mode, Run, USER, modes};

/// G1, G3: the allowed name answers, another one is refused, by name and with the reason.
#[test]
fn an_allowed_name_answers_and_another_does_not() {
    for &mode in modes() {
        let run = Run::in_lab(mode).allow("api.anthropic.com").script(
            "curl -sS --fail https://api.anthropic.com/ && ! curl -sS --resolve example.com:443:198.51.100.7 https://example.com/",
        );
        let run = run.must_succeed();
        assert!(run.stdout.contains(r#""host":"api.anthropic.com""#), "{run:?}");
        assert!(run.stderr.contains("access denied"), "{run:?}");
        assert!(run.stderr.contains("example.com (name-not-allowed)"), "{run:?}");
        assert_eq!(run.records("deny", "name-not-allowed"), 1, "{run:?}");
        assert!(!run.arrived("example.com"), "{run:?}");
    }
}

#[test]
fn the_command_keeps_user_environment_folder_and_exit_code() {
    for &mode in modes() {
        let run = Run::in_lab(mode);
        let folder = run.file("");
        let mut command = run.command(&["bash", "-c", "id -u; id -g; echo $MARK; pwd; cat; exit 37"]);
        command.env("MARK", "kept");
        let output = support::with_input(command, b"from stdin");
        let run = run.outcome(output);
        let user = if mode == Mode::Root { 0 } else { USER };
        let folder = folder.to_string_lossy();
        assert_eq!(
            run.stdout,
            format!("{user}\n{user}\nkept\n{}\nfrom stdin", folder.trim_end_matches('/')),
            "{run:?}"
        );
        assert_eq!(run.code, 37, "{run:?}");
    }
}
