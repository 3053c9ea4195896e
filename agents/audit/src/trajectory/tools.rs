//! What a tool is, by its name.

use super::finding::Runs;

/// What a tool does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Searches or reads the web.
    Web(Runs),
    /// Reads a forge.
    Forge,
    /// A tool of an MCP server of which nothing more is known.
    Mcp,
    /// Runs commands.
    Shell,
    /// Runs source.
    Code,
    /// Writes files.
    Write,
    /// Calls other tools.
    Relay,
    /// Reads and changes what is here, plans, asks: an address in its arguments is text.
    Local,
    /// Nothing is known of it.
    Unknown,
}

/// Names of web tools without separators, and where each runs.
const WEB: &[(&str, Runs)] = &[
    ("websearch", Runs::Provider),
    ("webfetch", Runs::Client),
    ("websearchcall", Runs::Provider),
    ("googlewebsearch", Runs::Provider),
    ("googlesearch", Runs::Provider),
    ("xsearch", Runs::Provider),
    ("webrun", Runs::Provider),
    ("web", Runs::Provider),
    ("searchweb", Runs::Provider),
    ("fetchurl", Runs::Client),
    ("urlfetch", Runs::Client),
    ("fetch", Runs::Client),
    ("readwebpage", Runs::Provider),
    ("readurlcontent", Runs::Client),
    ("readurl", Runs::Client),
    ("openurl", Runs::Client),
    ("openpage", Runs::Client),
    ("visitpage", Runs::Client),
    ("visitwebpage", Runs::Client),
    ("browse", Runs::Client),
    ("browser", Runs::Client),
    ("webbrowser", Runs::Client),
    ("webscrape", Runs::Client),
    ("scrape", Runs::Client),
    ("crawl", Runs::Client),
    ("httprequest", Runs::Client),
    ("http", Runs::Client),
    ("curl", Runs::Client),
    ("wget", Runs::Client),
    ("download", Runs::Client),
    ("downloadfile", Runs::Client),
    ("downloadurl", Runs::Client),
    ("codesearch", Runs::Client),
    ("librarian", Runs::Provider),
    ("urlcontext", Runs::Provider),
    ("semanticscholar", Runs::Client),
    ("computeruse", Runs::Provider),
    ("deepresearch", Runs::Provider),
];

/// Words in a name that lead to the web, whatever else stands in it.
const REACH: &[&str] = &[
    "web",
    "browser",
    "browse",
    "internet",
    "crawl",
    "crawler",
    "scrape",
    "scraper",
    "tavily",
    "exa",
    "firecrawl",
    "serper",
    "serpapi",
    "duckduckgo",
    "ddg",
    "google",
    "bing",
    "brave",
    "perplexity",
    "wikipedia",
    "arxiv",
    "pubmed",
    "playwright",
    "puppeteer",
    "context7",
    "deepwiki",
    "url",
    "urls",
    "http",
    "jina",
    "searxng",
    "kagi",
    "webpage",
    "website",
    "clinicaltrials",
    "twitter",
    "reddit",
    "youtube",
];

/// Words that lead there when the tool belongs to an MCP server.
const MCP_REACH: &[&str] = &[
    "fetch",
    "search",
    "download",
    "api",
    "slack",
    "notion",
    "linear",
    "gmail",
    "drive",
    "huggingface",
    "hf",
];

const FORGES: &[&str] = &["github", "gitlab", "bitbucket", "gitea", "gitee"];

/// Tools of the known CLIs that only touch what is here, though their names have one of the words.
const LOCAL: &[&str] = &[
    "read",
    "readfile",
    "readmanyfiles",
    "view",
    "viewimage",
    "viewfile",
    "grep",
    "glob",
    "ls",
    "list",
    "listdir",
    "listdirectory",
    "search",
    "searchfilecontent",
    "grepsearch",
    "findfiles",
    "filesearch",
    "codebasesearch",
    "semanticcodesearch",
    "todowrite",
    "todoread",
    "todolist",
    "todo",
    "settodolist",
    "updateplan",
    "task",
    "tasklist",
    "taskoutput",
    "taskstop",
    "agent",
    "spawnagent",
    "sendmessage",
    "waitagent",
    "listagents",
    "think",
    "thinking",
    "plan",
    "exitplanmode",
    "enterplanmode",
    "askuserquestion",
    "askuser",
    "requestuserinput",
    "question",
    "skill",
    "activateskill",
    "slashcommand",
    "finish",
    "finalanswer",
    "submit",
    "complete",
    "attemptcompletion",
    "savememory",
    "memory",
    "bashoutput",
    "killshell",
    "killbash",
    "readbash",
    "stopbash",
    "listbash",
    "toolsearch",
    "searchtool",
    "getgoal",
    "creategoal",
    "updategoal",
    "setgoal",
    "setgoalbudget",
    "listmcpresources",
    "listmcpresourcetemplates",
    "readmcpresource",
    "wait",
    "sleep",
    "updatetopic",
    "invokeagent",
    "reportfindings",
    "reportintent",
    "workflow",
    "sql",
    "sessionstoresql",
    "structuredoutput",
    "lsp",
    "diagnostics",
    "history",
    "zoomimage",
    "imagegen",
    "sendfeedback",
    "tasktracker",
    "croncreate",
    "crondelete",
    "cronlist",
    "schedulewakeup",
    "getcommandorsubagentoutput",
    "killcommandorsubagent",
    "schedulercreate",
    "schedulerdelete",
    "schedulerlist",
    "enterworktree",
    "exitworktree",
    "markcompleted",
    "marktaskcomplete",
    "fetchcopilotclidocumentation",
    "spawnsubagent",
    "delegate",
    "message",
    "note",
    "compact",
    "undo",
    "loadskill",
    "readagent",
    "writeagent",
    "listbackgroundprocesses",
    "readbackgroundoutput",
    "monitor",
];

const WRITES: &[&str] = &[
    "write",
    "writefile",
    "edit",
    "editfile",
    "multiedit",
    "create",
    "createfile",
    "replace",
    "searchreplace",
    "strreplace",
    "strreplaceeditor",
    "strreplacebasededittool",
    "fileeditor",
    "texteditor",
    "notebookedit",
    "applypatch",
    "patch",
    "insert",
    "save",
    "savefile",
    "writetofile",
    "updatefile",
    "editor",
    "filechange",
    "appendfile",
    "newfile",
    "overwrite",
];

const RELAYS: &[&str] = &[
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

const SHELLS: &[&str] = &[
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

const CODES: &[&str] =
    &["python", "jupyter", "ipython", "node", "javascript", "rscript", "repl", "interpreter", "cell", "code"];

/// What a tool is.
pub(crate) fn classify(name: &str) -> Class {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_mcp = name.starts_with("mcp__")
        || name.starts_with("mcp.")
        || has(&["mcp"]) && words.len() > 1
        || name.contains("codex_apps");
    if let Some((_, runs)) = WEB.iter().find(|(known, _)| *known == plain) {
        return Class::Web(*runs);
    }
    if name.contains("web__run") {
        return Class::Web(Runs::Provider);
    }
    if LOCAL.contains(&plain.as_str()) {
        return Class::Local;
    }
    if RELAYS.contains(&plain.as_str()) {
        return Class::Relay;
    }
    if has(FORGES) {
        return Class::Forge;
    }
    if has(REACH) || is_mcp && has(MCP_REACH) || name.contains("codex_apps") {
        return Class::Web(Runs::Client);
    }
    if WRITES.contains(&plain.as_str()) {
        return Class::Write;
    }
    if has(SHELLS) || plain.contains("bash") || plain.contains("shell") || plain.contains("terminal") {
        return Class::Shell;
    }
    if has(CODES) || plain.contains("python") || plain.starts_with("run") && plain.ends_with('r') {
        return Class::Code;
    }
    if is_mcp {
        return Class::Mcp;
    }
    if has(&["write", "edit", "patch"]) {
        return Class::Write;
    }
    Class::Unknown
}

/// The words of `snake_case`, `kebab-case`, `camelCase` and `mcp__server__tool`.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    for c in name.chars().take(256) {
        if (!c.is_alphanumeric() || (c.is_uppercase() && lower_before)) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase();
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_tools_by_all_their_names() {
        for name in [
            "WebSearch",
            "WebFetch",
            "webfetch",
            "web_search",
            "google_web_search",
            "FetchURL",
            "SearchWeb",
            "x_search",
            "read_web_page",
            "web__run",
            "mcp__tavily__search",
            "mcp__fetch__fetch",
            "browser_navigate",
            "brave-search",
            "playwright_goto",
            "tavily_search",
            "web_search_call",
            "mcp__leaky__web_search",
            "functions.web__run",
        ] {
            assert!(matches!(classify(name), Class::Web(_)), "{name}: {:?}", classify(name));
        }
        assert_eq!(classify("github-mcp-server-search_code"), Class::Forge);
        assert_eq!(classify("WebSearch"), Class::Web(Runs::Provider));
    }

    #[test]
    fn other_tools_are_none() {
        for (name, class) in [
            ("Bash", Class::Shell),
            ("run_shell_command", Class::Shell),
            ("exec_command", Class::Shell),
            ("bash_command", Class::Shell),
            ("run_terminal_command", Class::Shell),
            ("write_stdin", Class::Shell),
            ("Read", Class::Local),
            ("TodoWrite", Class::Local),
            ("ToolSearch", Class::Local),
            ("Write", Class::Write),
            ("apply_patch", Class::Write),
            ("mcp__memory__store", Class::Mcp),
            ("execute_python", Class::Code),
            ("frobnicate", Class::Unknown),
            ("tool_call", Class::Relay),
        ] {
            assert_eq!(classify(name), class, "{name}");
        }
    }
}
