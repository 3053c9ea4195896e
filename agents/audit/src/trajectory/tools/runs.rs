//! Names of tools that run something: other tools, commands, source.

pub(super) const RELAYS: &[&str] = &[
    "toolcall",
    "usetool",
    "calltool",
    "mcp",
    "mcptool",
    "batch",
    "invalid",
    "tool",
    "multitooluseparallel",
    "parallel",
    "runtool",
    "executetool",
];

pub(super) const SHELLS: &[&str] = &[
    "bash",
    "shell",
    "exec",
    "terminal",
    "command",
    "cmd",
    "console",
    "powershell",
    "tmux",
    "sh",
    "keystrokes",
    "stdin",
    "zsh",
];

pub(super) const CODES: &[&str] =
    &["python", "jupyter", "ipython", "node", "javascript", "rscript", "repl", "interpreter", "cell", "code"];
