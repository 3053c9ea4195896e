use super::*;
use crate::{Ask, Table};

fn check(agent: &str, text: &str) -> Result<(), String> {
    let table = Table::embedded().unwrap();
    let choice = table.choose(&Ask { agent, provider: None, ..Ask::default() }).unwrap();
    Labels::from_inspect(text)
        .map_err(|fault| fault.to_string())?
        .check(&choice)
        .map_err(|fault| fault.to_string())
}

#[test]
fn the_label_names_the_pinned_version() {
    let image = |version: &str| {
        format!(
            r#"[{{"Id":"sha256:1","Config":{{"Labels":{{"org.trialdesignbench.codex-version":"{version}","org.trialdesignbench.version":"1.7.0"}}}}}}]"#
        )
    };
    assert_eq!(check("codex", &image("0.162.0")), Ok(()));
    assert_eq!(
        check("codex", &image("0.162.1")).unwrap_err(),
        "the image's label org.trialdesignbench.codex-version is \"0.162.1\", and must be 0.162.0"
    );
    assert_eq!(
        check("claude-code", &image("0.162.0")).unwrap_err(),
        "the image has no label org.trialdesignbench.claude-code-version, which must be 2.1.295"
    );
}

/// G15: what can't be checked is never taken for right.
#[test]
fn an_image_that_says_nothing_is_refused() {
    for (text, expected) in [
        ("", "no output of `docker image inspect`: "),
        ("null", "no output of `docker image inspect`: "),
        ("[1]", "no output of `docker image inspect`: "),
        ("[]", "it speaks of 0 images, and must speak of one"),
        ("[{},{}]", "it speaks of 2 images, and must speak of one"),
        ("[{}]", "the image has no label org.trialdesignbench.codex-version"),
        (r#"{"Config":{"Labels":null}}"#, "the image has no label org.trialdesignbench.codex-version"),
        (
            r#"[{"Config":{"Labels":{"org.trialdesignbench.codex-version":162}}}]"#,
            "no output of `docker image inspect`: ",
        ),
    ] {
        let found = check("codex", text).unwrap_err();
        assert!(found.starts_with(expected), "{text}: {found}");
    }
    assert_eq!(
        check("gemini-cli", "[{}]").unwrap_err(),
        "the row of gemini-cli names no image label, so an image can't be checked by its labels"
    );
    let podman = r#"[{"Labels":{"org.trialdesignbench.codex-version":"0.162.0","org.trialdesignbench.version":"1.7.0"}}]"#;
    assert_eq!(check("codex", podman), Ok(()));
    let other = podman.replace("1.7.0", "1.6.0");
    assert_eq!(
        check("codex", &other).unwrap_err(),
        "the image's label org.trialdesignbench.version is \"1.6.0\", and must be 1.7.0"
    );
}
