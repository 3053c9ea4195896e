"""Clients of permitted hosts and attackers, all at once and without pause, until it is told to stop."""

import hashlib, http.client, json, socket, ssl, sys, threading, time

KEPT, SETUP, OTHER, FAR = "api.anthropic.com", "registry.npmjs.org", "github.com", "203.0.113.9"
NONCE = "N0NCE-chaos"
# Longer than any fault lasts.
PATIENCE = 30
stop = threading.Event()
lock, counts = threading.Lock(), {"complete": 0, "failed": 0, "wrong": 0, "hung": 0, "tried": 0, "through": 0}
oddities = []


def count(what, oddity=None):
    with lock:
        counts[what] += 1
        if oddity and len(oddities) < 20:
            oddities.append(oddity)


def transfer(name, size, tls):
    """Whole with the right hash, or an error; never less that looks like all."""
    kind = http.client.HTTPSConnection if tls else http.client.HTTPConnection
    connection = kind(name, timeout=PATIENCE)
    try:
        connection.request("GET", f"/bytes/{size}?nonce=chaosfine")
        answer = connection.getresponse()
        # Refused: by the phase, or for want of descriptors.
        if "x-closedbook-reason" in answer.headers:
            return count("failed")
        body = answer.read()
        right = len(body) == size and hashlib.sha256(body).hexdigest() == answer.headers["x-lab-sha256"]
        count("complete" if right else "wrong", None if right else f"{name} {answer.status} {len(body)} of {size}")
    except TimeoutError:
        count("hung", f"{name} {size} tls={tls}")
    except (OSError, http.client.HTTPException) as error:
        count("failed")
    finally:
        connection.close()


def client(name, tls):
    size = 1
    while not stop.is_set():
        transfer(name, size, tls)
        size = size * 7 % 3_000_017 + 1
        time.sleep(0.002)


def hello(name):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    made = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        made.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def tcp(address, payload):
    with socket.create_connection(address, PATIENCE) as made:
        made.sendall(payload)
        made.settimeout(PATIENCE)
        return made.recv(4096)


def udp(address, payload):
    with socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.settimeout(0.2)
        made.connect(address)
        made.send(payload)
        made.recv(512)


QUESTION = b"\0\1\1\0\0\1\0\0\0\0\0\0" + bytes([len(NONCE)]) + NONCE.encode() + b"\4test\0\0\1\0\1"
REQUEST = f"GET /{NONCE} HTTP/1.1\r\nHost: %s\r\n\r\n"
WAYS = [
    lambda: tcp((FAR, 443), hello(OTHER) + NONCE.encode()),
    lambda: tcp((KEPT, 443), hello(f"{NONCE}.example".lower())),
    lambda: tcp((KEPT, 80), (REQUEST % OTHER).encode()),
    lambda: tcp((FAR, 80), (REQUEST % "nonsense.example").encode()),
    lambda: tcp((FAR, 22), NONCE.encode()),
    lambda: tcp((FAR, 8443), hello(KEPT) + NONCE.encode()),
    lambda: tcp(("2001:db8::9", 443), NONCE.encode()),
    lambda: tcp(("127.0.0.1", 12345), NONCE.encode()),
    lambda: tcp((FAR, 53), len(QUESTION).to_bytes(2, "big") + QUESTION),
    lambda: udp((FAR, 53), QUESTION),
    lambda: udp(("2001:db8::53", 53), QUESTION),
    lambda: udp((FAR, 443), NONCE.encode()),
    lambda: socket.getaddrinfo(f"{NONCE}.example", 443),
]


def attacker(first):
    turn = first
    while not stop.is_set():
        try:
            WAYS[turn % len(WAYS)]()
        except OSError:
            pass
        count("tried")
        turn += 1


threads = [threading.Thread(target=client, args=what) for what in [(KEPT, True), (KEPT, False), (SETUP, True), (SETUP, False)]]
threads += [threading.Thread(target=attacker, args=(first,)) for first in (0, 5, 9)]
for thread in threads:
    thread.start()
# Whatever happens later, the witness has seen something.
while not counts["complete"]:
    time.sleep(0.001)
print("going", flush=True)
for line in sys.stdin:
    with lock:
        print(json.dumps(counts | {"oddities": oddities}), flush=True)
stop.set()
for thread in threads:
    thread.join()
print(json.dumps(counts | {"oddities": oddities}), flush=True)
