//! The real agent CLIs, where `.ci/clients` could fetch them.

use std::path::PathBuf;

/// Where they are.
pub fn folder() -> PathBuf {
    std::env::var_os("CLOSEDBOOK_CLIENTS").map(PathBuf::from).unwrap_or_else(|| {
        // target/debug/deps/TEST
        std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("clients")
    })
}

/// How an agent's program is started: a native one by itself, a JavaScript one by the Node that was fetched with it. Says so
/// when it is not there: what was not tested must not look as if it had been.
pub fn agent(name: &str) -> Option<Vec<PathBuf>> {
    let (program, by_node) = match name {
        "claude-code" => ("claude", false),
        "codex" => ("codex", false),
        "opencode" => ("opencode", false),
        "gemini-cli" => ("gemini", true),
        "qwen-code" => ("qwen", true),
        _ => return None,
    };
    let programs = folder().join("node_modules/.bin");
    let mut words = if by_node { vec![programs.join("node")] } else { Vec::new() };
    words.push(programs.join(program));
    if words.iter().all(|word| word.exists()) {
        return Some(words);
    }
    super::say(&format!("NOT TESTED: {name} is not in {} (.ci/clients fetches it)", folder().display()));
    None
}
