"""Does what it is told, a line at a time, and says what came of it."""

import errno, os, signal, socket, ssl, sys, time

WAIT = 10
ALLOWED, OTHER = "api.anthropic.com", "203.0.113.9"
streams = []


def named(error):
    return errno.errorcode.get(error.errno, "hang") if isinstance(error, OSError) else str(error)


def stream():
    """A response of the permitted host that goes on for minutes."""
    context = ssl.create_default_context()
    tls = context.wrap_socket(socket.create_connection((ALLOWED, 443), WAIT), server_hostname=ALLOWED)
    tls.sendall(f"GET /drip/100000/1 HTTP/1.1\r\nHost: {ALLOWED}\r\n\r\n".encode())
    tls.recv(1)
    streams.append(tls)
    return "flowing"


def ended():
    """Reads on until the stream ends."""
    try:
        while streams[0].recv(65536):
            pass
        return "ended"
    except OSError as error:
        return "hang" if isinstance(error, TimeoutError) else "ended"


def tried(way):
    try:
        way()
        return "through"
    except OSError as error:
        return named(error)


def tcp(address, port):
    socket.create_connection((address, port), WAIT).sendall(b"N0NCE-after")


def udp(address, port):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.settimeout(WAIT)
        made.connect((address, port))
        made.send(b"\0\0\1\0\0\1\0\0\0\0\0\0\x0bN0NCE-after\4test\0\0\1\0\1")
        made.recv(512)


def out():
    """Every way out that was open or might open."""
    ways = [lambda: tcp("198.51.100.1", 443), lambda: tcp(OTHER, 80), lambda: tcp("2001:db8::1:1", 443)]
    ways += [lambda: tcp(OTHER, 53), lambda: udp(OTHER, 53), lambda: udp("2001:db8::53", 53), lambda: udp(OTHER, 4444)]
    return " ".join(tried(way) for way in ways)


def descendants():
    """A daemon, a daemon that hears no signal it can refuse, and a stopped child."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if os.fork() == 0:
                signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
            time.sleep(1000)
        os._exit(0)
    os.wait()
    stopped = os.fork()
    if stopped == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
    os.waitpid(stopped, os.WUNTRACED)
    return "born"


def restless():
    """Tries to get out without end."""
    print("restless", flush=True)
    while True:
        for way in (lambda: tcp(OTHER, 443), lambda: udp(OTHER, 4444)):
            tried(way)


for line in sys.stdin:
    if line.strip() == "end":
        break
    print(eval(line.strip())(), flush=True)
