//! Names of the fields that tools take, by what they hold.

/// Fields that hold commands.
pub(super) const COMMANDS: &[&str] = &[
    "command",
    "cmd",
    "script",
    "bash_command",
    "commands",
    "argv",
    "shell_command",
    "code",
    "line",
    "cmdline",
    "command_line",
    "exec",
    "run",
    "args",
    "program",
];

/// Fields that hold what is typed into a program that runs already, which may be anything.
pub(super) const TYPED: &[&str] = &["keystrokes", "chars", "stdin", "input", "keys", "text", "data"];

/// Fields that hold source.
pub(super) const SOURCES: &[&str] = &[
    "code",
    "source",
    "script",
    "command",
    "input",
    "cell",
    "new_source",
    "program",
    "text",
    "python",
    "r_code",
    "expr",
    "content",
];

/// Fields that hold addresses.
pub(super) const ADDRESSES: &[&str] = &[
    "url",
    "uri",
    "href",
    "link",
    "urls",
    "uris",
    "links",
    "endpoint",
    "website",
    "page",
    "address",
    "image_url",
    "base_url",
    "source_url",
];

/// Fields of commands that are for people.
pub(super) const REMARKS: &[&str] = &[
    "description",
    "justification",
    "explanation",
    "reason",
    "title",
    "purpose",
    "comment",
    "workdir",
    "cwd",
    "directory",
    "dir_path",
    "analysis",
    "thought",
    "plan",
    "message",
    "summary",
    "is_background",
    "timeout",
    "session_id",
    "name",
];
