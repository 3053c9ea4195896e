//! Names by which calls and events are told: types of objects, and fields.

/// Names of events that only a provider's own tools have.
pub(super) const EVENTS: &[&str] = &[
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "web_search_call",
    "web_fetch_call",
    "mcp_call",
    "file_search_call",
    "code_interpreter_call",
    "computer_call",
    "x_search_call",
    "url_citation",
    "web_search_result",
    "web_search_result_location",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_call_output",
    "web_search_begin",
    "web_search_end",
    "image_generation_call",
    "mcp_approval_request",
    "search_result_location",
    "web_fetch_result",
    "x_search",
    "live_search",
];

/// Of those, what is no use of the web.
pub(super) const HARMLESS: &[&str] =
    &["tool_search_call_output", "image_generation_call", "search_result_location"];

/// Types of objects that are calls of the CLI's own tools.
pub(super) const CALLS: &[&str] = &[
    "tool_use",
    "function_call",
    "custom_tool_call",
    "tool_call",
    "tool-call",
    "toolcall",
    "local_shell_call",
    "tool",
    "tool.execution_start",
    "command_execution",
    "mcp_tool_call",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "web_search",
    "exec_command_begin",
    "exec_command_end",
    "functioncall",
    "toolusestart",
    "tool_call_request",
    "tool_use_start",
    "tool_execution_start",
    "shell_call",
    "apply_patch_call",
    "file_change",
    "patch_apply_begin",
    "patch_apply_end",
    "tool-invocation",
];

/// Lists of calls, by the name of their field.
pub(super) const LISTS: &[&str] = &["tool_calls", "toolCalls", "toolRequests", "toolUses"];

pub(super) const NAMES: &[&str] = &["function_name", "name", "tool_name", "toolName", "tool"];

pub(super) const ARGUMENTS: &[&str] = &[
    "arguments",
    "args",
    "input",
    "parameters",
    "rawInput",
    "params",
    "action",
    "raw_input",
    "toolArgs",
    "operation",
];

pub(super) const IDS: &[&str] =
    &["tool_call_id", "call_id", "callID", "callId", "toolCallId", "tool_use_id", "id"];
