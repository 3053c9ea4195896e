"""Makes the databases in this folder with Python's sqlite3, and what must be read from them.

    python3 tests/trajectories/sqlite/make.py
"""

import os
import pathlib
import shutil
import sqlite3

HERE = pathlib.Path(__file__).parent


def text(n):
    """Texts of all sizes: inline, at the edges, over several overflow pages; not only ASCII."""
    sizes = [0, 1, 100, 442, 443, 475, 476, 489, 490, 491, 1000, 3000, 9000]
    return ("ä" if n % 3 else "x") + chr(97 + n % 26) * sizes[n % len(sizes)]


def fill(connection):
    connection.execute("CREATE TABLE message (id text PRIMARY KEY, data text)")
    connection.execute("CREATE TABLE part (id text PRIMARY KEY, n integer, f real, b blob, data text)")
    for n in range(45):
        connection.execute(
            "INSERT INTO part VALUES (?,?,?,?,?)", (f"prt_{n}", (-1) ** n * 7**n % 2**40, n / 3, bytes([n]) * n, text(n))
        )
    connection.execute("DELETE FROM part WHERE n % 7 = 3")
    connection.commit()


def make(name, *pragmas):
    path = HERE / name
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    for pragma in pragmas:
        connection.execute(pragma)
    fill(connection)
    rows = connection.execute("SELECT rowid, data FROM part ORDER BY rowid").fetchall()
    connection.close()
    return rows


rows = make("plain.db")
assert rows == make("small-pages.db", "PRAGMA page_size=512")
assert rows == make("utf16.db", "PRAGMA encoding='UTF-16le'", "PRAGMA page_size=1024")
(HERE / "expected.txt").write_text("".join(f"{i}:{len(data)}:{data[:8]}\n" for i, data in rows))

# The log is kept as a killed program leaves it: nothing was copied back into the file.
work = HERE / "work.db"
connection = sqlite3.connect(work)
connection.execute("PRAGMA page_size=1024")
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("PRAGMA wal_autocheckpoint=0")
fill(connection)
shutil.copy(work, HERE / "wal.db")
shutil.copy(f"{work}-wal", HERE / "wal.db-wal")
connection.close()
for name in ["work.db", "work.db-wal", "work.db-shm"]:
    if os.path.exists(HERE / name):
        os.remove(HERE / name)

# A session as OpenCode keeps it.
path = HERE.parent / "opencode-session.db"
path.unlink(missing_ok=True)
connection = sqlite3.connect(path)
connection.execute("CREATE TABLE session (id text PRIMARY KEY, title text)")
connection.execute("CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text)")
connection.execute("CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text)")
connection.execute("INSERT INTO message VALUES ('msg_1','ses_1',1,1,'{\"role\":\"assistant\",\"modelID\":\"m\"}')")
parts = [
    '{"type":"step-start"}',
    '{"type":"text","text":"I read https://example.com/docs."}',
    '{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls","description":"list"},"output":"a"}}',
    '{"type":"tool","callID":"c2","tool":"webfetch","state":{"status":"error","input":{"url":"https://example.com/x","format":"text"},"error":"denied"}}',
    '{"type":"tool","callID":"c3","tool":"invalid","state":{"status":"completed","input":{"tool":"websearch","error":"not available"},"output":"x"}}',
    '{"type":"tool","callID":"c4","tool":"bash","state":{"status":"completed","input":{"command":"git clone https://github.com/a/b"},"output":"x"}}',
]
for n, part in enumerate(parts):
    connection.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", (f"prt_{n}", "msg_1", "ses_1", n, n, part))
connection.commit()
connection.close()
