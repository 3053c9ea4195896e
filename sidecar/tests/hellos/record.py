#!/usr/bin/env python3
"""Records the first bytes that a TLS client sends: record.py FILE COMMAND...

Listens on 127.0.0.1:443, runs the command, keeps what its first connection sends until the client waits for an
answer, and hangs up. To be run in a network namespace of its own, in which api.anthropic.com is 127.0.0.1:

    unshare --net --mount sh -c 'ip link set lo up
        printf "127.0.0.1 localhost api.anthropic.com\\n" >/tmp/hosts && mount --bind /tmp/hosts /etc/hosts
        ./record.py curl.bin curl https://api.anthropic.com/'
"""

import socket
import subprocess
import sys

path, command = sys.argv[1], sys.argv[2:]
listener = socket.create_server(("127.0.0.1", 443))
client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
listener.settimeout(60)
connection, _ = listener.accept()
connection.settimeout(0.5)
hello = b""
try:
    while chunk := connection.recv(65536):
        hello += chunk
except TimeoutError:
    pass
connection.close()
listener.close()
client.kill()
client.wait()
with open(path, "wb") as file:
    file.write(hello)
print(path, len(hello), "octets")
