"""A CLI that speaks Anthropic's protocol and does what its first argument says. It calls itself Claude Code."""
import json, os, signal, sys, time, urllib.error, urllib.request

how, args = sys.argv[1], sys.argv[2:]
if "--version" in args:
    print("0.0.1 (other)" if how == "other" else "2.1.295 (Claude Code)")
    sys.exit()


def off():
    """What is switched off, by the flag or by the settings."""
    names = []
    if "--disallowedTools" in args and how not in ("deaf", "disobedient"):
        names += args[args.index("--disallowedTools") + 1].split(",")
    try:
        if how != "disobedient":
            names += json.load(open(os.path.expanduser("~/.claude/settings.json")))["permissions"]["deny"]
    except FileNotFoundError:
        pass
    return names


def get(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=20) as answer:
            return answer.read()
    except (urllib.error.URLError, OSError) as error:
        return str(error).encode()


def ask(tools, **more):
    prompt = args[args.index("-p") + 1]
    body = {"model": "claude-test", "tools": tools, "messages": [{"role": "user", "content": prompt}], **more}
    return get("https://api.anthropic.com/v1/messages", body)


# What a probe must have seen to: nothing of the user's, and nothing left from another start.
assert "CLAUDE_CONFIG_DIR" not in os.environ and "OPENCODE_PERMISSION" not in os.environ
assert os.getcwd().endswith("/work") and os.listdir(".") == []
assert set(os.listdir(os.path.expanduser("~"))) <= {".claude"}
assert "--dangerously-skip-permissions" in args and os.environ["IS_SANDBOX"] == "1"

gone = off()
tools = [{"name": name, "input_schema": {"type": "object"}} for name in ("Bash", "WebSearch", "WebFetch") if name not in gone]
if how == "silent":
    print("no key, or so")
    print("\033[2Jgive me one", file=sys.stderr)
    sys.exit(5)
if how == "stubborn":
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
if how == "garbled":
    tools = "WebSearch"
if how == "hidden" and gone:
    ask(tools, capabilities={"more": ["WebSearch"]})
if how == "mcp":
    tools.append({"name": "mcp__house__find", "input_schema": {"type": "object"}})
if how == "provider":
    tools.append({"type": "web_search_20250305", "name": "web_search"})
if how == "fetch":
    get("https://example.com/")
if how == "stray":
    get("https://pypi.org/simple/")
    get("https://sentry.io/")
if how == "blind":
    tools = tools[:1]
if how == "loud":
    print("x" * 50_000_000)
answer = ask(tools)
print(answer.decode())
if how in ("hang", "stubborn"):
    time.sleep(600)
# The command can't read what tells of it.
folder = os.path.dirname(os.getcwd())
sizes = [os.stat(os.path.join(folder, name)).st_size for name in ("log", "tape")]
assert sizes == [0, 0], sizes
