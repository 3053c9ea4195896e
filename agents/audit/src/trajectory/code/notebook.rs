//! Lines of a notebook that are no source: `!command`, `%pip install`, `%%bash`.

use super::super::shell::Shell;

/// `!command`, `%pip install`, `%%bash` of notebooks.
pub(super) fn lines(shell: &mut Shell<'_>, code: &str) {
    let trimmed = code.trim_start();
    if let Some(rest) = trimmed.strip_prefix("%%") {
        let (head, body) = rest.split_once('\n').unwrap_or((rest, ""));
        if ["bash", "sh", "script", "system"].iter().any(|magic| head.starts_with(magic)) {
            shell.within("%%", body.len(), |shell| shell.script(body));
        }
    }
    for text in code.lines().map(str::trim_start) {
        let command = text.strip_prefix('!').or_else(|| {
            text.strip_prefix('%').filter(|rest| {
                ["pip ", "conda ", "sx ", "system ", "mamba ", "uv "]
                    .iter()
                    .any(|magic| rest.starts_with(magic))
            })
        });
        if let Some(command) = command.filter(|command| !command.starts_with('=') && !command.is_empty()) {
            let command = command.trim_start_matches('!');
            let command =
                command.strip_prefix("sx ").or_else(|| command.strip_prefix("system ")).unwrap_or(command);
            shell.within("!", command.len(), |shell| shell.script(command));
        }
    }
}
