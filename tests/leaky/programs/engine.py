"""The resolver that Docker puts into each of its networks: 127.0.0.11, asked inside, and asking outside.

    engine.py OUTSIDE [rules]   (the path of the network namespace that it asks from)

Nothing of the task's namespace is in the way of its own questions. As Docker's, it is not at port 53 itself: a rule of its
own sends there what is meant for that port, and by that connections are followed in this namespace from the start; without
rules it is at that port."""
import ctypes
import os
import socket
import subprocess
import sys
import threading

ADDRESS = "127.0.0.11"
RESOLVER = ("192.0.2.53", 53)
RULES = """
table ip engine {
  chain out { type nat hook output priority -100; policy accept;
    ip daddr 127.0.0.11 udp dport 53 dnat to 127.0.0.11:%d
    ip daddr 127.0.0.11 tcp dport 53 dnat to 127.0.0.11:%d
  }
}
"""


def bound(kind, port):
    sock = socket.socket(socket.AF_INET, kind)
    sock.bind((ADDRESS, port))
    return sock


def by_udp(sock):
    while True:
        question, peer = sock.recvfrom(4096)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside:
            outside.settimeout(1)
            outside.sendto(question, RESOLVER)
            try:
                sock.sendto(outside.recv(4096), peer)
            except OSError:
                # Whoever asked will ask again.
                pass


def by_tcp(sock):
    while True:
        inside, _ = sock.accept()
        threading.Thread(target=converse, args=(inside,), daemon=True).start()


def converse(inside):
    with inside, socket.socket() as outside:
        for one in (inside, outside):
            one.settimeout(2)
        try:
            outside.connect(RESOLVER)
            outside.sendall(inside.recv(4096))
            inside.sendall(outside.recv(4096))
        except OSError:
            pass


def main():
    port = 0 if "rules" in sys.argv[2:] else 53
    udp, tcp = bound(socket.SOCK_DGRAM, port), bound(socket.SOCK_STREAM, port)
    tcp.listen(64)
    if not port:
        text = RULES % (udp.getsockname()[1], tcp.getsockname()[1])
        subprocess.run(["nft", "-f", "-"], input=text, text=True, check=True)
    outside = os.open(sys.argv[1], os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(outside, 0):
        raise OSError(ctypes.get_errno(), "setns")
    print("ready", flush=True)
    threading.Thread(target=by_udp, args=(udp,), daemon=True).start()
    by_tcp(tcp)


main()
